import type { FSWatcher } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import type {
  Container as CriContainer,
  ContainerConfig,
  ContainerState,
  ContainerStatus,
  ImageSpec,
} from '../../../generated/runtime/v1/api.js';
import type { Cgroup } from '../confinement/cgroup.js';
import type { Confinement } from '../confinement/confinement.js';
import type { ContainerInput } from '../launch/container-input.js';
import { HOST_IMAGE, HOST_IMAGE_ID } from '../images/images.js';
import type { LogWriter } from './log-writer.js';
import type { Sandbox } from '../sandboxes/sandboxes.js';
import type { ContainerRecord } from '../state/state-store.js';

/** A container in memory: its record and the values derived from it. */
export interface Container {
  readonly id: string;
  readonly name: string;
  readonly sandbox: Sandbox;
  readonly createdAt: bigint;
  readonly cgroup: Cgroup | undefined;
  readonly confinement: Confinement;
  config: ContainerConfig;
  record: ContainerRecord;
  /** One text for each limit that this machine does not enforce. */
  notEnforced: readonly string[];
  logWriter?: LogWriter;
  watcher?: FSWatcher;
  /** Made for the first client that attaches to it. */
  input?: ContainerInput;
  /** Whether its directory is checked, by the watcher or periodically. */
  isWatched?: boolean;
  /** Settles when the supervisor of this run has ended. */
  supervisorExit?: Promise<void>;
  starting?: Promise<void>;
  /** The reason why this run did not start, if no file contains it. */
  startError?: string;
  /** The only transition to EXITED; set when the end is detected. */
  finishing?: Promise<void | undefined>;
  removing?: Promise<void>;
  /** Resolves when the container is EXITED. */
  readonly ended: { readonly promise: Promise<void>; readonly resolve: () => void };
}

const STATES: Record<ContainerRecord['state'], ContainerState> = {
  created: 'CONTAINER_CREATED',
  starting: 'CONTAINER_CREATED',
  running: 'CONTAINER_RUNNING',
  exited: 'CONTAINER_EXITED',
};

export const stateOf = ({ record }: Container): ContainerState => STATES[record.state];

/**
 * Whether the input ends with the first client that attaches to it: a terminal stays open for the next one.
 * Source: containerd's internal/cri/io/container_io.go Attach
 */
export const endsWithClient = ({ config }: Pick<Container, 'config'>): boolean => config.stdinOnce && !config.tty;

/** The absolute path of the CRI log; undefined if the config has none. */
export const logPathOf = ({ sandbox, config }: Pick<Container, 'sandbox' | 'config'>): string | undefined =>
  sandbox.config.logDirectory === '' || config.logPath === ''
    ? undefined
    : join(sandbox.config.logDirectory, config.logPath);

/** The number of the stop signal; real-time signals are named by their distance from the first or the last one. */
export const stopSignalOf = ({ config }: Pick<Container, 'config'>): number => {
  const realTime = /^SIGRT(MIN|MAX)(?:(?:PLUS|MINUS)(\d+))?$/.exec(config.stopSignal);
  if (realTime) return realTime[1] === 'MIN' ? 34 + Number(realTime[2] ?? 0) : 64 - Number(realTime[2] ?? 0);
  return (constants.signals as Partial<Record<string, number>>)[config.stopSignal] ?? constants.signals.SIGTERM;
};

export const listEntry = (container: Container): CriContainer => ({
  id: container.id,
  podSandboxId: container.sandbox.id,
  metadata: container.config.metadata,
  image: container.config.image,
  imageRef: HOST_IMAGE_ID,
  imageId: HOST_IMAGE_ID,
  state: stateOf(container),
  createdAt: container.createdAt,
  labels: container.config.labels,
  annotations: container.config.annotations,
});

/** Clients create containers by the ID of the image, and expect its name. */
const imageName = ({ image, userSpecifiedImage }: ImageSpec): string =>
  userSpecifiedImage || (image === HOST_IMAGE_ID ? HOST_IMAGE : image);

export const containerStatus = (container: Container): ContainerStatus => {
  const { config, record } = container;
  const { user } = record;
  return {
    id: container.id,
    metadata: config.metadata,
    state: stateOf(container),
    createdAt: container.createdAt,
    startedAt: BigInt(record.startedAt ?? 0),
    finishedAt: BigInt(record.finishedAt ?? 0),
    exitCode: record.exitCode ?? 0,
    image: config.image && { ...config.image, image: imageName(config.image) },
    imageRef: HOST_IMAGE_ID,
    imageId: HOST_IMAGE_ID,
    reason: record.reason ?? '',
    message: record.message ?? '',
    labels: config.labels,
    annotations: config.annotations,
    mounts: config.mounts,
    logPath: logPathOf(container) ?? '',
    resources: { linux: config.linux?.resources },
    user: {
      linux: {
        uid: BigInt(user.uid),
        gid: BigInt(user.gid),
        supplementalGroups: user.groups.map((group) => BigInt(group)),
      },
    },
    stopSignal: config.stopSignal,
  };
};
