import { EMPTY, identity, NEVER, of, type SchedulerLike } from 'rxjs';
import type { JournalRecord } from '../../src/model/journal/journal.js';
import type { NodeFacts } from '../../src/model/node/node-facts.js';
import type { Pod } from '../../src/model/pod/pod.js';
import { recordNodeEventOnce } from '../../src/streams/pod-sync/record-node-event.js';
import type { PodSyncContext } from '../../src/streams/pod-sync/pod-sync-context.js';
import type { CredentialPorts } from '../../src/streams/ports/credential-ports.js';
import type { HttpRequest } from '../../src/streams/ports/http-request.js';
import type { ImageService } from '../../src/streams/ports/image-service.js';
import type { LogFiles } from '../../src/streams/ports/log-files.js';
import type { NodeFiles } from '../../src/streams/ports/node-files.js';
import type { NodeAgentEvent } from '../../src/streams/ports/record-event.js';
import type { VolumeFiles } from '../../src/streams/ports/volume-files.js';
import type { PodVolumes } from '../../src/streams/volumes/pod-volumes.js';
import type { PodFiles } from '../../src/streams/ports/pod-files.js';
import type { PodReferences } from '../../src/streams/ports/pod-references.js';
import type { Random } from '../../src/streams/ports/random.js';
import type { RuntimeClasses } from '../../src/streams/ports/runtime-classes.js';
import type { RuntimeService } from '../../src/streams/ports/runtime-service.js';
import { noCredentials } from '../../src/streams/ports/credential-ports.js';
import { noLedger, type PullLedger } from '../../src/streams/images/pull-ledger.js';
import type { PullQueue } from '../../src/streams/images/pull-queue.js';
import type { StartQueue } from '../../src/streams/pod-sync/start-queue.js';
import { metricLines } from './metric-lines.js';
import { nodeFacts } from './node-facts.js';

/** A port of which only `calls` may be used; any other call fails the test by name. */
export const only = <Port extends object>(calls: Partial<Port>): Port =>
  new Proxy(calls as Port, {
    get: (target, name) => {
      const call = Reflect.get(target, name) as unknown;
      if (call === undefined) throw new Error(`the test does not expect ${String(name)}`);
      return call;
    },
  });

export const noFiles: NodeFiles = {
  makeDirectory: () => EMPTY,
  keepDirectory: () => EMPTY,
  listDirectory: () => of([]),
  remove: () => EMPTY,
  removeLog: () => EMPTY,
  link: () => EMPTY,
  danglingLinks: () => of([]),
};

export const noPodFiles: PodFiles = {
  write: () => EMPTY,
  read: () => of(''),
  readTail: () => of(undefined),
  mountsBelow: () => of([]),
};

/** Volumes that are always there, and are mounted nowhere. */
export const noVolumes: PodVolumes = {
  mount: () => EMPTY,
  envFiles: () => of(new Map()),
  mountsOf: () => of([]),
  leave: () => undefined,
  unmount: () => EMPTY,
};

export const noVolumeFiles: VolumeFiles = {
  setUp: () => of('made'),
  write: () => of('unchanged'),
  read: () => of(new Uint8Array()),
  checkHostPath: () => EMPTY,
  bindSubPath: () => EMPTY,
  makeMountPoint: () => EMPTY,
  unbindSubPaths: () => EMPTY,
  tearDown: () => EMPTY,
  found: () => of([]),
};

/** Logs that never grow. */
export const noLogFiles: LogFiles = {
  size: () => of(0n),
  rotated: () => of([]),
  rename: () => EMPTY,
  compress: () => EMPTY,
  remove: () => EMPTY,
  utcOffsetMinutes: () => 0,
};

export interface SyncStage {
  readonly context: PodSyncContext;
  /** `reason message` of each event, in order. */
  readonly events: string[];
  readonly records: JournalRecord[];
  /** Observations of metrics, `name arguments`, in order. */
  readonly observed: string[];
  /** Messages of the log. */
  readonly logged: string[];
}

/** A sync of `pod` whose outside world is what the test gives it. */
export const syncStage = (
  pod: Pod,
  scheduler: SchedulerLike,
  {
    runtime = {},
    images = {},
    files = noFiles,
    podFiles = noPodFiles,
    volumes = noVolumes,
    random = () => 0,
    credentials = {},
    pullQueue = () => identity,
    pullLedger = { ...noLedger, isOn: true },
    startQueue = () => identity,
    httpRequest = () => NEVER,
    runtimeClasses,
    podReferences,
    signal,
    wallClock = () => scheduler.now(),
    node = nodeFacts,
  }: {
    readonly runtime?: Partial<RuntimeService>;
    readonly images?: Partial<ImageService>;
    readonly files?: NodeFiles;
    readonly podFiles?: PodFiles;
    readonly volumes?: PodVolumes;
    readonly random?: Random;
    readonly credentials?: Partial<CredentialPorts>;
    readonly pullQueue?: PullQueue;
    readonly pullLedger?: PullLedger;
    readonly startQueue?: StartQueue;
    readonly httpRequest?: HttpRequest;
    readonly runtimeClasses?: RuntimeClasses;
    readonly podReferences?: PodReferences;
    readonly signal?: AbortSignal;
    readonly wallClock?: () => number;
    readonly node?: NodeFacts;
  } = {},
): SyncStage => {
  const events: string[] = [];
  const records: JournalRecord[] = [];
  const logged: string[] = [];
  const say = (_fields: object, message: string) => logged.push(message);
  const recordEvent = ({ pod: about, reason, message }: NodeAgentEvent) =>
    void events.push(`${about ? '' : 'node: '}${reason} ${message}`);
  const { metrics, lines: observed } = metricLines();
  const context: PodSyncContext = {
    pod,
    causes: ['cause'],
    signal,
    ports: {
      runtime: only<RuntimeService>(runtime),
      images: only<ImageService>(images),
      files,
      podFiles,
      volumes,
      random,
      httpRequest,
      runtimeClasses,
      podReferences,
      node,
      log: { debug: say, info: say, warn: say, error: say },
      ...noCredentials,
      ...credentials,
      pullQueue,
      pullLedger,
      startQueue,
      record: (entry) => `j${records.push(entry)}`,
      recordEvent,
      recordNodeEvent: recordNodeEventOnce(recordEvent),
      metrics,
      scheduler,
      wallClock,
    },
  };
  return { context, events, records, observed, logged };
};
