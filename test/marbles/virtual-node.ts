import { concat, defer, EMPTY, map, NEVER, type Observable, of, type Subscription, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import type { Kubelet, KubeletOptions, KubeletPorts } from '../../src/kubelet-options.js';
import { kubelet } from '../../src/kubelet.js';
import type { JournalRecord } from '../../src/model/journal/journal.js';
import type { Pod, PodSpec } from '../../src/model/pod/pod.js';
import { podSet, type SourceEvent } from '../../src/model/pod/pod-set.js';
import type { NodeCgroups } from '../../src/streams/cgroups/node-cgroups.js';
import type { ProbeOutcome } from '../../src/model/probes/probe-outcome.js';
import type { Checkpoints } from '../../src/streams/ports/checkpoints.js';
import type { EvictionFigures } from '../../src/streams/ports/eviction-figures.js';
import type { ProbeRecords } from '../../src/streams/ports/probe-records.js';
import type { ProbeTarget } from '../../src/streams/ports/probe-handlers.js';
import type { ShutdownInhibitor, ShutdownSignal } from '../../src/streams/ports/shutdown-inhibitor.js';
import { noPullRecords } from '../../src/streams/ports/pull-records.js';
import { noCredentials } from '../../src/streams/ports/credential-ports.js';
import { noMetrics } from '../../src/streams/ports/metrics.js';
import { aPod, type PodSketch } from '../support/a-pod.js';
import { type Behaviour, type FakeRuntime, fakeRuntime } from '../support/fake-runtime.js';
import { nodeFacts } from '../support/node-facts.js';
import { noFiles, noLogFiles, noPodFiles, noVolumeFiles } from '../support/sync-context.js';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

export interface Stage {
  readonly scheduler: TestScheduler;
  readonly fake: FakeRuntime;
  readonly records: JournalRecord[];
  readonly events: string[];
  /** The time and the path of each directory of a pod that was removed: `6000 /…/pods/uid-1`. */
  readonly removed: string[];
  /** The time and the kind of each record of the journal: `61000 work-due`. */
  readonly journal: string[];
  /** The times at which the lock that delays the shutdown of the machine was taken and released. */
  readonly locks: string[];
  /** One without a subscriber so far. */
  readonly agent: (options: KubeletOptions) => Kubelet;
  readonly start: (options: KubeletOptions) => {
    readonly subscription: Subscription;
    readonly pods: () => readonly Pod[];
    readonly pods$: Kubelet['pods$'];
    readonly health: () => string | undefined;
  };
}

/**
 * A whole node in virtual time: `play` prepares it, then time runs until `untilMs`. Calls of the runtime take no time unless
 * `latencyMs` is given, so pictures show the times of the agent alone.
 */
export const onNode = (
  {
    behaviours = {},
    tellsEvents = true,
    ready,
    nodeCgroups,
    probe,
    probeRecords,
    shutdownSignal$,
    evictionFigures,
    logFiles = [],
    podUids = [],
    random = () => 0,
    latencyMs = 0,
    updateProblem,
    checkpoints,
    untilMs,
  }: Pick<NonNullable<Parameters<typeof fakeRuntime>[1]>, 'ready' | 'latencyMs' | 'updateProblem'> & {
    /** What outlives an agent. Unless given, nothing does. */
    checkpoints?: Checkpoints;
    /** Pods get cgroups of their own. */
    nodeCgroups?: (scheduler: TestScheduler) => NodeCgroups;
    /** What a probe finds, from `atMs` on the node's clock; nothing is probed unless given. */
    probe?: (target: ProbeTarget, atMs: number) => Observable<ProbeOutcome>;
    probeRecords?: ProbeRecords;
    /** What the machine says about its shutdown. Unless given, there is no service that says it. */
    shutdownSignal$?: (scheduler: TestScheduler) => Observable<ShutdownSignal>;
    /** What is measured on the node. Unless given, nothing is. */
    evictionFigures?: (scheduler: TestScheduler) => EvictionFigures;
    /** What stands in the folder of every container's logs. */
    logFiles?: readonly string[];
    /** The pods that have a directory from before. */
    podUids?: readonly string[];
    random?: () => number;
    behaviours?: Record<string, Behaviour>;
    tellsEvents?: boolean;
    untilMs: number;
  },
  play: (stage: Stage) => void,
): Stage => {
  const scheduler = new TestScheduler(() => true);
  const records: JournalRecord[] = [];
  const events: string[] = [];
  const removed: string[] = [];
  const journal: string[] = [];
  const locks: string[] = [];
  let stage!: Stage;
  scheduler.run(() => {
    const fake = fakeRuntime(scheduler, { behaviours, tellsEvents, ready, latencyMs, updateProblem });
    const ports: KubeletPorts = {
      runtime: fake.runtime,
      images: fake.images,
      files: {
        ...noFiles,
        listDirectory: (path) => of(path.endsWith('/main') ? logFiles : path.endsWith('/pods') ? podUids : []),
        remove: (path) =>
          defer(() => {
            removed.push(`${scheduler.now()} ${path}`);
            return EMPTY;
          }),
      },
      logFiles: noLogFiles,
      diskSpace: () => of({ capacityBytes: 1n, availableBytes: 1n }),
      httpRequest: () => NEVER,
      podFiles: noPodFiles,
      volumeFiles: noVolumeFiles,
      ...noCredentials,
      pullRecords: noPullRecords,
      record: (entry) => {
        journal.push(`${scheduler.now()} ${entry.kind}`);
        return `j${records.push(entry)}`;
      },
      recordEvent: ({ reason }) => events.push(`${scheduler.now()} ${reason}`),
      metrics: noMetrics,
      scheduler,
      wallClock: () => scheduler.now(),
      random,
      log: quiet,
      runtimeName: 'fake',
      node: nodeFacts,
      ...(probe && { probeHandlers: { probe: (target) => defer(() => probe(target, scheduler.now())) } }),
      probeRecords,
      checkpoints,
      ...(shutdownSignal$ && { shutdownInhibitor: inhibitor(shutdownSignal$(scheduler), scheduler, locks) }),
      ...(evictionFigures && { evictionFigures: evictionFigures(scheduler) }),
      ...(nodeCgroups && { nodeCgroups: nodeCgroups(scheduler) }),
    };
    const running: Subscription[] = [];
    const make = (options: KubeletOptions) => kubelet(ports, options);
    const start: Stage['start'] = (options) => {
      const agent = make(options);
      const subscription = agent.outcome$.subscribe();
      running.push(subscription);
      return { subscription, pods: agent.pods, pods$: agent.pods$, health: agent.health };
    };
    stage = { scheduler, fake, records, events, removed, journal, locks, agent: make, start };
    play(stage);
    scheduler.schedule(() => running.forEach((subscription) => subscription.unsubscribe()), untilMs);
  });
  return stage;
};

const inhibitor = (
  signal$: Observable<ShutdownSignal>,
  scheduler: TestScheduler,
  locks: string[],
): ShutdownInhibitor => ({
  maxDelayMs: () => of(3_600_000),
  setMaxDelay: () => EMPTY,
  takeLock: () => defer(() => of(locks.push(`${scheduler.now()} taken`))),
  releaseLock: () => void locks.push(`${scheduler.now()} released`),
  watch: () => signal$,
});

export const forever = (...pods: readonly Pod[]): Observable<SourceEvent> =>
  concat(of<SourceEvent>(podSet(pods)), NEVER);
/** Another set every time, at the given milliseconds. */
export const sets = (...steps: readonly (readonly [number, readonly Pod[]])[]): Observable<SourceEvent> =>
  concat(
    ...steps.map(([at, pods], index) => timer(at - (steps[index - 1]?.[0] ?? 0)).pipe(map(() => podSet(pods)))),
    NEVER,
  );
export const pod = (spec: Partial<PodSpec> = {}, rest: PodSketch = {}): Pod => aPod({ spec, ...rest });
