import { defer, mergeMap, type Observable, of, throwError, timer } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { errorText } from '../../../src/model/cri/cri-error.js';
import type { JournalRecord } from '../../../src/model/journal/journal.js';
import type { NodeFacts } from '../../../src/model/node/node-facts.js';
import type { Logger } from '../../../src/streams/ports/logger.js';
import type { NodeAgentEvent } from '../../../src/streams/ports/record-event.js';
import type { VolumeFiles } from '../../../src/streams/ports/volume-files.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { type NodeVolumes, podVolumes, type PodVolumesPorts } from '../../../src/streams/volumes/pod-volumes.js';
import { fakePodReferences, type FakeObjects } from '../../support/fake-pod-references.js';
import { metricLines } from '../../support/metric-lines.js';
import { nodeFacts } from '../../support/node-facts.js';
import { noVolumeFiles, only } from '../../support/sync-context.js';

export interface StageOptions {
  readonly objects?: FakeObjects;
  readonly files?: Partial<VolumeFiles>;
  readonly node?: Partial<NodeFacts>;
  /** In place of the ports made of the above. */
  readonly ports?: Partial<PodVolumesPorts>;
}

export interface Stage {
  readonly volumes: NodeVolumes;
  readonly events: string[];
  readonly records: JournalRecord[];
  /** Calls of the disk, by name. */
  readonly calls: string[];
  /** The same as `<milliseconds> <name>`. */
  readonly timedCalls: string[];
  readonly metrics: string[];
  readonly logged: object[];
  /** Runs work at a time, and writes its end or its value. */
  readonly at: (ms: number, work: () => Observable<unknown>) => void;
  readonly ends: string[];
  readonly run: (ms: number) => void;
}

export const aStage = (
  scheduler: TestScheduler,
  { objects, files = {}, node = {}, ports = {} }: StageOptions = {},
): Stage => {
  const { metrics, lines } = metricLines();
  const stage = {
    events: [] as string[],
    records: [] as JournalRecord[],
    calls: [] as string[],
    ends: [] as string[],
    timedCalls: [] as string[],
  };
  const logged: object[] = [];
  const all: VolumeFiles = { ...noVolumeFiles, ...files };
  const volumeFiles = Object.fromEntries(
    Object.entries(all).map(([name, call]: [string, (...args: never[]) => unknown]) => [
      name,
      (...args: never[]) => {
        stage.calls.push(name);
        stage.timedCalls.push(`${scheduler.now()} ${name}`);
        return call(...args);
      },
    ]),
  ) as unknown as VolumeFiles;
  const volumes = podVolumes({
    state: kubeletState(),
    volumeFiles,
    podReferences: fakePodReferences(objects),
    node: { ...nodeFacts, ...node },
    record: (record) => `e${stage.records.push(record)}`,
    recordEvent: ({ reason, message }: NodeAgentEvent) =>
      void stage.events.push(`${scheduler.now()} ${reason} ${message}`),
    metrics,
    log: only<Logger>({ warn: (fields) => void logged.push(fields) }),
    scheduler,
    ...ports,
  });
  volumes.run$.subscribe();
  return {
    ...stage,
    volumes,
    logged,
    metrics: lines,
    at: (ms, work) =>
      void timer(ms, scheduler)
        .pipe(mergeMap(work))
        .subscribe({
          next: (value) => stage.ends.push(`${scheduler.now()} ${JSON.stringify(value)}`),
          complete: () => stage.ends.push(`${scheduler.now()} done`),
          error: (error: unknown) => stage.ends.push(`${scheduler.now()} ${errorText(error)}`),
        }),
    run: (ms) => {
      scheduler.maxFrames = ms;
      scheduler.flush();
    },
  };
};

/** Returns the first answer at the first call, and so on; the last one from then on. */
export const inOrder = <T>(...answers: readonly Observable<T>[]): (() => Observable<T>) => {
  let turn = 0;
  return () => answers[Math.min(turn++, answers.length - 1)]!;
};
export const fails = (message: string): Observable<never> => throwError(() => new Error(message));

/** The ConfigMap `settings` with these values of `a`, one for each read. */
export const changing = (...values: readonly string[]): FakeObjects => {
  const metadata = { namespace: 'default', name: 'settings' };
  return { configMaps: { 'default/settings': defer(inOrder(...values.map((a) => of({ metadata, data: { a } })))) } };
};
