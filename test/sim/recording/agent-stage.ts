import { map, type Observable, tap } from 'rxjs';
import { expect } from 'vitest';
import type { Kubelet, KubeletOptions, KubeletPorts } from '../../../src/kubelet-options.js';
import { mapRules, PORT_RULES } from '../../../src/tools/recording/ports/port-table.js';
import { type MakeKubelet, recordKubelet, type RecordOptions } from '../../../src/tools/recording/record-kubelet.js';
import type { RecordingEntry } from '../../../src/tools/recording/entries/recording-entry.js';
import { replay } from '../../../src/tools/recording/replay.js';
import type { ReplayResult } from '../../../src/tools/recording/replay/replay-result.js';
import { VirtualScheduler } from '../../../src/tools/sim/world/virtual-scheduler.js';
import { type RecordingInMemory, recordingOf } from './recordings-in-memory.js';

/** An agent that does something else than pods: what it emits are its outcomes. */
export type Act = (ports: KubeletPorts, options: KubeletOptions) => Observable<unknown>;

export const agentOf =
  (act: Act, hear: (heard: unknown) => void = () => undefined): MakeKubelet =>
  (ports, options) => {
    const outcome$ = act(ports, options).pipe(
      tap(hear),
      map((heard) => ({ heard })),
    );
    return { outcome$, pods: () => [], images: () => [], health: () => undefined } as unknown as Kubelet;
  };

export interface Stage {
  readonly scheduler: VirtualScheduler;
  readonly agent: Kubelet;
  /** Ends the agent. */
  readonly stop: () => void;
}

/** Ports of which every one that is not given is not there to be used. */
export const portsOf = (given: object, scheduler: VirtualScheduler): KubeletPorts => {
  const unused = mapRules(
    PORT_RULES,
    () => true,
    (path, { kind }) => {
      if (kind === 'fact') return path;
      return () => {
        throw new Error(`the test does not expect ${path}`);
      };
    },
  );
  return {
    ...unused,
    ...{ scheduler, wallClock: () => scheduler.now() },
    ...given,
  } as unknown as KubeletPorts;
};

export interface Played {
  readonly recording: RecordingInMemory;
  /** What the agent emitted while it was recorded, and in the replay. */
  readonly heard: readonly unknown[];
  readonly replayed: readonly unknown[];
  readonly result: ReplayResult;
}

/** Records an agent while `play` goes on, and replays it. */
export const playAgent = (
  act: Act,
  given: (scheduler: VirtualScheduler) => { readonly ports?: object; readonly options?: Partial<KubeletOptions> },
  play: (stage: Stage) => void = ({ scheduler }) => scheduler.runUntil(1_000_000),
  recordOptions: Partial<RecordOptions> = {},
): Played => {
  const scheduler = new VirtualScheduler({ startMs: 1000 });
  const { ports = {}, options = {} } = given(scheduler);
  const lines: string[] = [];
  const write = (entry: RecordingEntry): void => {
    lines.push(JSON.stringify(entry));
    recordOptions.write?.(entry);
  };
  const heard: unknown[] = [];
  const agent = recordKubelet(
    agentOf(act, (value) => heard.push(value)),
    portsOf(ports, scheduler),
    { sources: {}, ...options },
    { by: 'test', ...recordOptions, write },
  );
  const subscription = agent.outcome$.subscribe({ error: () => undefined });
  play({ scheduler, agent, stop: () => subscription.unsubscribe() });
  const recording = recordingOf(lines);
  const replayed: unknown[] = [];
  const result = replay(
    recording,
    agentOf(act, (value) => replayed.push(value)),
  );
  return { recording, heard, replayed, result };
};

/** The kinds of entries after the header. */
export const kindsOf = ({ recording }: Played): readonly string[] => recording.entries.map(({ kind }) => kind);

/** The replay has come to the end of the recording, and the agent has received there what it received before. */
export const expectSame = ({ heard, replayed, result, recording }: Played): void => {
  expect(result).toMatchObject({ kind: 'same', entries: recording.lines.length });
  expect(replayed).toEqual(heard);
};
