import { createHash } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import type { Image, ImageFsInfoResponse, ImageSpec } from '../../generated/runtime/v1/api.js';
import { statfs } from './machine.js';
import { failedPrecondition, RuntimeError } from './runtime-error.js';

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

const usedBytes = async (path: string): Promise<{ used: bigint; inodes: bigint }> => {
  const { blocks, bfree, bsize, files, ffree } = await statfs(path, { bigint: true });
  return { used: (blocks - bfree) * bsize, inodes: files - ffree };
};

/** Its size is the used space of the file system of `/`, at least 1, since clients take 0 for a broken image. */
export const hostImage = async (uid: number): Promise<Image> => ({
  id: HOST_IMAGE_ID,
  repoTags: [HOST_IMAGE],
  repoDigests: [],
  size: ((size) => (size > 0n ? size : 1n))((await usedBytes('/')).used),
  uid: { value: BigInt(uid) },
  username: '',
  spec: { image: HOST_IMAGE, annotations: {}, userSpecifiedImage: '', runtimeHandler: '', imageRef: '' },
  pinned: true,
});

export const refuseRemoval = (spec: ImageSpec | undefined): void => {
  if (isHostImage(spec?.image ?? ''))
    throw failedPrecondition('the image "host" is this machine\'s file system and cannot be removed');
};

/** Images and containers share the file system of the state directory. */
export const imageFsInfo = async (stateDirectory: string): Promise<ImageFsInfoResponse> => {
  const { used, inodes } = await usedBytes(stateDirectory);
  const usage = {
    timestamp: BigInt(Date.now()) * 1_000_000n,
    fsId: { mountpoint: stateDirectory },
    usedBytes: { value: used },
    inodesUsed: { value: inodes },
  };
  return { imageFilesystems: [usage], containerFilesystems: [usage] };
};
