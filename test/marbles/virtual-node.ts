import { concat, defer, map, NEVER, type Observable, of, type Subscription, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { type Kubelet, kubelet, type KubeletOptions, type KubeletPorts } from '../../src/kubelet.js';
import type { JournalRecord } from '../../src/model/journal.js';
import type { Pod, PodSpec } from '../../src/model/pod.js';
import { podSet, type SourceEvent } from '../../src/model/pod-set.js';
import type { NodeCgroups } from '../../src/streams/cgroups/node-cgroups.js';
import type { ProbeOutcome, ProbeRecords, ProbeTarget } from '../../src/streams/ports.js';
import { noPullRecords } from '../../src/streams/no-pull-records.js';
import { noCredentials } from '../../src/streams/no-credentials.js';
import { noMetrics } from '../../src/streams/no-metrics.js';
import { aPod, type PodSketch } from '../support/a-pod.js';
import { type Behaviour, type FakeRuntime, fakeRuntime } from '../support/fake-runtime.js';
import { nodeFacts } from '../support/node-facts.js';
import { noFiles, noLogFiles, noPodFiles } from '../support/sync-context.js';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

export interface Stage {
  readonly scheduler: TestScheduler;
  readonly fake: FakeRuntime;
  readonly records: JournalRecord[];
  readonly events: string[];
  /** One that nobody has subscribed to yet. */
  readonly agent: (options: KubeletOptions) => Kubelet;
  readonly start: (options: KubeletOptions) => {
    readonly subscription: Subscription;
    readonly pods: () => readonly Pod[];
    readonly health: () => string | undefined;
  };
}

/** A whole node in virtual time: `play` prepares it, then time runs until `untilMs`, then the rest is checked. */
export const onNode = (
  {
    behaviours = {},
    tellsEvents = true,
    ready,
    nodeCgroups,
    probe,
    probeRecords,
    random = () => 0,
    untilMs,
  }: Pick<NonNullable<Parameters<typeof fakeRuntime>[1]>, 'ready'> & {
    /** Pods get cgroups of their own. */
    nodeCgroups?: (scheduler: TestScheduler) => NodeCgroups;
    /** What a probe finds, from `atMs` on the node's clock; nothing is probed unless given. */
    probe?: (target: ProbeTarget, atMs: number) => Observable<ProbeOutcome>;
    probeRecords?: ProbeRecords;
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
  let stage!: Stage;
  scheduler.run(() => {
    const fake = fakeRuntime(scheduler, { behaviours, tellsEvents, ready });
    const ports: KubeletPorts = {
      runtime: fake.runtime,
      images: fake.images,
      files: noFiles,
      logFiles: noLogFiles,
      diskSpace: () => of({ capacityBytes: 1n, availableBytes: 1n }),
      httpRequest: () => NEVER,
      podFiles: noPodFiles,
      ...noCredentials,
      pullRecords: noPullRecords,
      record: (entry) => `j${records.push(entry)}`,
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
      ...(nodeCgroups && { nodeCgroups: nodeCgroups(scheduler) }),
    };
    const running: Subscription[] = [];
    const make = (options: KubeletOptions) => kubelet(ports, options);
    const start: Stage['start'] = (options) => {
      const agent = make(options);
      const subscription = agent.outcome$.subscribe();
      running.push(subscription);
      return { subscription, pods: agent.pods, health: agent.health };
    };
    stage = { scheduler, fake, records, events, agent: make, start };
    play(stage);
    scheduler.schedule(() => running.forEach((subscription) => subscription.unsubscribe()), untilMs);
  });
  return stage;
};

export const forever = (...pods: readonly Pod[]): Observable<SourceEvent> =>
  concat(of<SourceEvent>(podSet(pods)), NEVER);
/** Another set every time, at the given milliseconds. */
export const sets = (...steps: readonly (readonly [number, readonly Pod[]])[]): Observable<SourceEvent> =>
  concat(
    ...steps.map(([at, pods], index) => timer(at - (steps[index - 1]?.[0] ?? 0)).pipe(map(() => podSet(pods)))),
    NEVER,
  );
export const pod = (spec: Partial<PodSpec> = {}, rest: PodSketch = {}): Pod => aPod({ spec, ...rest });
/** When a container was started, in seconds. */
export const starts = (history: readonly string[], name: string): readonly number[] =>
  history
    .filter((line) => line.includes(` start ${name} `))
    .map((line) => Math.round(Number(line.split(' ')[0]) / SECOND));
