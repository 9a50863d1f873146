import { concat, delay, NEVER, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { KubeletOptions } from '../../../src/kubelet-options.js';
import { kubelet } from '../../../src/kubelet.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import { podSet } from '../../../src/model/pod/pod-set.js';
import type { MakeKubelet } from '../../../src/tools/recording/record-kubelet.js';
import { replay } from '../../../src/tools/recording/replay.js';
import type { Plain } from '../../../src/tools/recording/entries/recording-entry.js';
import type { DifferentReplay } from '../../../src/tools/recording/replay/replay-result.js';
import type { NodeBehaviours } from '../../../src/tools/sim/world/behaviour.js';
import { simulatedNode } from '../../../src/tools/sim/simulated-node.js';
import { aPod } from '../../support/a-pod.js';
import { recordingsInMemory } from './recordings-in-memory.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const steady = aPod({ uid: 'uid-steady', name: 'steady' });
const crashing = aPod({
  uid: 'uid-crashing',
  name: 'crashing',
  spec: { containers: [{ name: 'fails', image: 'busy' }] },
});
const behaviours: NodeBehaviours = {
  containers: { 'crashing/fails': [{ exitsAfterMs: 2 * SECOND, exitCode: 3 }] },
};

/** Two pods for ten minutes: one that runs, and one that crashes again and again. */
const record = (options: Partial<KubeletOptions> = {}, pods: readonly Pod[] = [steady, crashing]) => {
  const { makeKubelet, recordings } = recordingsInMemory();
  const node = simulatedNode({
    ...{ seed: 7, behaviours, makeKubelet, options },
    sources: { file: concat(of(podSet(pods)), NEVER) },
  });
  node.start();
  node.scheduler.runUntil(node.scheduler.now() + 10 * MINUTE);
  node.kill();
  return recordings()[0]!;
};

const withOptions =
  (changed: Partial<KubeletOptions>): MakeKubelet =>
  (ports, options) =>
    kubelet(ports, { ...options, ...changed });

const differenceOf = (recording: ReturnType<typeof record>, make: MakeKubelet): DifferentReplay => {
  const result = replay(recording, make);
  if (result.kind === 'same') throw new Error('the replay came out the same');
  expect(recording.entries[result.entry - 1]).toEqual(result.expected);
  return result;
};

const kindsOf = ({ causes }: DifferentReplay) => causes.map(({ record: { kind } }) => kind);

describe('a changed decision', () => {
  it('is none where it is never asked for', () => {
    expect(replay(record(), kubelet)).toMatchObject({ kind: 'same', virtualMs: 10 * MINUTE });
    const soon: MakeKubelet = (ports, options) =>
      kubelet(ports, { ...options, containerGc: { minAgeMs: 0, maxPerPodContainer: 1, maxContainers: -1 } });
    expect(replay(record(), soon)).toMatchObject({ kind: 'same' });
  });

  it('of how often a pod is looked at shows when its next sync is due', () => {
    const difference = differenceOf(record(), withOptions({ syncFrequencyMs: 20 * SECOND }));
    const { expected, actual, pod, causes } = difference;
    if (expected.kind !== 'outcome' || actual?.kind !== 'outcome') throw new Error('expected two outcomes');
    const waitOf = (outcome: Plain) => (outcome as { readonly dueAt: number }).dueAt - difference.wallTime;
    expect(waitOf(expected.outcome) / waitOf(actual.outcome)).toBeCloseTo(3, 5);
    const { uid, journalId } = expected.outcome as { readonly uid: string; readonly journalId: string };
    expect(pod?.uid).toBe(uid);
    // What it ends is named, and what that came from.
    expect(causes.at(-1)).toMatchObject({ id: journalId, record: { kind: 'sync-ended' } });
    expect(kindsOf(difference)).toEqual(['config', 'sync-started', 'sync-ended']);
    expect(new Set(causes.map(({ record }) => record.pod?.uid))).toEqual(new Set([pod?.uid]));
  });

  it('of admission shows where the pod is rejected, with the pod', () => {
    const admit: KubeletOptions['admit'] = ({ metadata }) =>
      metadata.name === 'crashing' ? { reason: 'NoCrashing', message: 'not here' } : undefined;
    const difference = differenceOf(record(), withOptions({ admit }));
    expect(difference.actual).toMatchObject({
      kind: 'journal',
      record: { kind: 'admission-rejected', reason: 'NoCrashing', pod: { name: 'crashing' } },
    });
    expect(difference.pod).toEqual({ uid: 'uid-crashing', namespace: 'default', name: 'crashing' });
    expect(difference.causes.map(({ record }) => [record.kind, record.pod?.name])).toEqual([['config', 'crashing']]);
    expect(difference.input?.input).toMatchObject({ kind: 'completed' });
  });

  it('of the back-off shows at the first restart that it puts off differently', () => {
    const difference = differenceOf(record(), withOptions({ maxRestartBackOffMs: 15 * SECOND }));
    const { expected, actual } = difference;
    // The table of 15 s begins as that of 300 s does, but it is shorter from the first entry.
    expect(expected).toMatchObject({ kind: 'journal', record: { kind: 'back-off', delayMs: 10 * SECOND, steps: 6 } });
    expect(actual).toMatchObject({ kind: 'journal', record: { kind: 'back-off', delayMs: 10 * SECOND, steps: 2 } });
    expect(difference.pod?.name).toBe('crashing');
    expect(difference.causes.some(({ record }) => record.kind === 'runtime-changed' && record.exitCode === 3)).toBe(
      true,
    );
  });

  it('of the streams shows at the timer that it adds', () => {
    const late: MakeKubelet = (ports, options) =>
      kubelet(ports, {
        ...options,
        swap: (inputs) => ({ ...inputs, pleg$: inputs.pleg$.pipe(delay(100, ports.scheduler)) }),
      });
    const recording = record();
    const difference = differenceOf(recording, late);
    expect(difference.actual).toMatchObject({ kind: 'timer', delayMs: 100 });
    expect(difference.input).toEqual({
      entry: difference.input?.entry,
      input: recording.entries[difference.input!.entry - 1],
    });
  });

  it('by which nothing is done any more shows at what should have been done', () => {
    const deaf: MakeKubelet = (ports, options) =>
      kubelet(ports, { ...options, swap: (inputs) => ({ ...inputs, syncTick$: NEVER }) });
    const difference = differenceOf(record(), deaf);
    expect(difference.actual).not.toEqual(difference.expected);
    expect(difference.virtualMs).toBeLessThanOrEqual(2 * SECOND);
  });

  it('that throws is a difference that says so', () => {
    let calls = 0;
    const broken: MakeKubelet = (ports, options) => {
      const agent = kubelet(ports, {
        ...options,
        swap: (inputs) => ({
          ...inputs,
          get syncTick$() {
            if (++calls > 0) throw new Error('no such tick');
            return inputs.syncTick$;
          },
        }),
      });
      return agent;
    };
    const difference = differenceOf(record(), broken);
    expect(difference.actual).toMatchObject({ kind: 'over', error: { $error: { message: 'no such tick' } } });
  });

  it('in the code of the user has to be given again', () => {
    const admit: KubeletOptions['admit'] = () => undefined;
    const recording = record({ admit });
    expect(() => replay(recording, kubelet)).toThrow(
      'entry 0 of the recording: the agent had an option admit of its own, which the replay needs',
    );
    expect(replay(recording, kubelet, { code: { admit } })).toMatchObject({ kind: 'same' });
  });
});

describe('a replay', () => {
  it('stops where it is asked to, and reports every entry on the way', () => {
    const recording = record();
    const seen: { readonly number: number; readonly atMs: number; readonly pod: string | undefined }[] = [];
    const result = replay(recording, kubelet, {
      untilMs: MINUTE,
      onEntry: (entry, number, { atMs, pod }) => {
        expect(entry).toEqual(recording.entries[number - 1]);
        seen.push({ number, atMs, pod: pod?.name });
      },
    });
    const [last] = seen.slice(-1);
    expect(result).toMatchObject({ kind: 'same', end: 'until', entries: last!.number + 1, virtualMs: last!.atMs });
    expect(last!.atMs).toBeLessThanOrEqual(MINUTE);
    const after = recording.entries[last!.number]!;
    expect('at' in after && after.at).toBeGreaterThan(MINUTE);
    expect(seen.map(({ number }) => number)).toEqual(seen.map((_, index) => index + 1));
    expect(new Set(seen.map(({ pod }) => pod))).toEqual(new Set([undefined, 'steady', 'crashing']));
  });

  it('finds the pod of a call by the ids in it', () => {
    const recording = record();
    const pods = new Map<string, Set<string | undefined>>();
    replay(recording, kubelet, {
      onEntry: (entry, _, { pod }) => {
        if (entry.kind === 'call') pods.set(entry.port, (pods.get(entry.port) ?? new Set()).add(pod?.name));
      },
    });
    for (const port of ['runPodSandbox', 'createContainer', 'startContainer', 'containerStatus'])
      expect([port, ...(pods.get(`runtime.${port}`) ?? [])].toSorted()).toEqual(
        [port, 'steady', 'crashing'].toSorted(),
      );
    expect(pods.get('runtime.removeContainer')).toEqual(new Set(['crashing']));
  });
});
