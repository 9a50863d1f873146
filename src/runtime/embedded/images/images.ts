import { createHash } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import type { FilesystemUsage, Image, ImageFsInfoResponse, ImageSpec } from '../../../generated/runtime/v1/api.js';
import { wallClockNs } from '../machine/clock.js';
import { statfs } from '../machine/machine.js';
import { failedPrecondition, RuntimeError } from '../runtime-error.js';
import { storedUsage } from './stored-usage.js';

export const HOST_IMAGE = 'host:latest';

/** Derived from the name, so it is the same on every machine and after every restart. */
export const HOST_IMAGE_ID = `sha256:${createHash('sha256').update(HOST_IMAGE).digest('hex')}`;

/**
 * The only image: this machine's file system, by its name or its ID. Every version of busybox is accepted too, since
 * its users want a shell and the usual utilities, which a machine has; so such a pod runs here and in containers.
 */
export const isHostImage = (name: string): boolean =>
  [HOST_IMAGE_ID, 'host', HOST_IMAGE].includes(shortName(name)) || /^busybox(:[\w.-]+)?$/.test(shortName(name));

const shortName = (name: string): string => name.replace(/^docker\.io\/library\//, '');

export const requireHostImage = (spec: ImageSpec | undefined): void => {
  const name = spec?.image ?? '';
  if (isHostImage(name)) return;
  throw new RuntimeError(
    status.NOT_FOUND,
    `the embedded runtime has only the image "host" (this machine's file system); to run "${name}" give the agent a container runtime with --container-runtime-endpoint`,
  );
};

const usedBytes = async (path: string): Promise<bigint> => {
  const { blocks, bfree, bsize } = await statfs(path, { bigint: true });
  return (blocks - bfree) * bsize;
};

/** Its size is the used space of the file system of `/`, at least 1, since clients take 0 for a broken image. */
export const hostImage = async (uid: number): Promise<Image> => ({
  id: HOST_IMAGE_ID,
  repoTags: [HOST_IMAGE],
  repoDigests: [],
  size: ((size) => (size > 0n ? size : 1n))(await usedBytes('/')),
  uid: { value: BigInt(uid) },
  username: '',
  spec: { image: HOST_IMAGE, annotations: {}, userSpecifiedImage: '', runtimeHandler: '', imageRef: '' },
  pinned: true,
});

export const refuseRemoval = (spec: ImageSpec | undefined): void => {
  if (isHostImage(spec?.image ?? ''))
    throw failedPrecondition('the image "host" is this machine\'s file system and cannot be removed');
};

/**
 * The space of images, which is none, and of containers: their records, and their output on its way into the log. The
 * runtime stores both in its state directory, and stores no image: its only one is the machine's own files, which are no part of
 * this by the definition of the CRI. Errors: the directory cannot be read.
 *
 * Source: k8s.io/cri-api/pkg/apis/runtime/v1/api.proto FilesystemUsage
 */
export const imageFsInfo = async (stateDirectory: string): Promise<ImageFsInfoResponse> => {
  const { bytes, inodes } = await storedUsage(stateDirectory);
  const timestamp = wallClockNs();
  const usage = (usedBytes: bigint, inodesUsed: bigint): FilesystemUsage => ({
    timestamp,
    fsId: { mountpoint: stateDirectory },
    usedBytes: { value: usedBytes },
    inodesUsed: { value: inodesUsed },
  });
  return { imageFilesystems: [usage(0n, 0n)], containerFilesystems: [usage(bytes, inodes)] };
};
