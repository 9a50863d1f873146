import { concat, NEVER, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { kubelet } from '../../../src/kubelet.js';
import { podSet } from '../../../src/model/pod/pod-set.js';
import type { RecordingEntry, RecordingHeader } from '../../../src/tools/recording/entries/recording-entry.js';
import { type Recording, replay } from '../../../src/tools/recording/replay.js';
import { simulatedNode } from '../../../src/tools/sim/simulated-node.js';
import { aPod } from '../../support/a-pod.js';
import { recordingOf, recordingsInMemory } from './recordings-in-memory.js';

/** A minute of a pod that crashes. */
const whole = (() => {
  const { makeKubelet, recordings } = recordingsInMemory();
  const node = simulatedNode({
    ...{ seed: 11, makeKubelet, behaviours: { containers: { 'web/main': [{ exitsAfterMs: 1000, exitCode: 1 }] } } },
    sources: { file: concat(of(podSet([aPod()])), NEVER) },
  });
  node.start();
  node.scheduler.runUntil(node.scheduler.now() + 40_000);
  node.kill();
  return recordings()[0]!;
})();

const indexOf = (isMeant: (entry: RecordingEntry) => boolean): number => whole.entries.findIndex(isMeant);
const changed = (index: number, entry: unknown): Recording => ({
  header: whole.header,
  entries: whole.entries.with(index, entry as RecordingEntry),
});

describe('a recording that is cut off', () => {
  it('replays up to its end, wherever that is', () => {
    // Nothing is cut off after the end of the agent.
    const end = indexOf(({ kind }) => kind === 'ended');
    expect(end).toBeGreaterThan(300);
    const places = whole.entries.flatMap((_, index) =>
      index < end && (index < 300 || index % 17 === 0) ? [index] : [],
    );
    expect(places.length).toBeGreaterThan(300);
    for (const length of places) {
      const result = replay(recordingOf(whole.lines.slice(0, length + 1)), kubelet);
      expect(result).toMatchObject({ kind: 'same', end: 'no-more', entries: length + 1 });
    }
  });

  it('says so where it knows', () => {
    const cut = {
      header: whole.header,
      entries: [...whole.entries.slice(0, 100), { kind: 'cut' as const, reason: 'full' }],
    };
    expect(replay(cut, kubelet)).toMatchObject({ kind: 'same', end: 'cut', reason: 'full', entries: 101 });
  });
});

describe('a recording that was changed', () => {
  it('differs at any output that is another one, and says which', () => {
    const outputs = whole.entries
      .flatMap((entry, index) => (entry.kind === 'timer' ? [index] : []))
      .filter((_, n) => n % 7 === 0);
    expect(outputs.length).toBeGreaterThan(10);
    for (const index of outputs) {
      const was = whole.entries[index] as Extract<RecordingEntry, { kind: 'timer' }>;
      const result = replay(changed(index, { ...was, delayMs: was.delayMs + 1 }), kubelet);
      expect(result).toMatchObject({
        kind: 'different',
        entry: index + 1,
        actual: was,
        expected: { delayMs: was.delayMs + 1 },
      });
    }
  });

  it('differs at an output that never comes', () => {
    const index = indexOf(({ kind }) => kind === 'reply');
    const extra: RecordingEntry = { kind: 'told', port: 'recordEvent', args: [] };
    const entries = whole.entries.toSpliced(index, 0, extra);
    expect(replay({ header: whole.header, entries }, kubelet)).toMatchObject({
      kind: 'different',
      entry: index + 1,
      expected: extra,
    });
  });

  it('differs at an output that is left out, with what was done instead of the next entry', () => {
    const index = indexOf((entry) => entry.kind === 'call' && entry.port === 'runtime.startContainer');
    const left = whole.entries[index]!;
    const entries = whole.entries.toSpliced(index, 1);
    expect(replay({ header: whole.header, entries }, kubelet)).toMatchObject({
      ...{ kind: 'different', entry: index + 1, expected: entries[index], actual: left },
      pod: { name: 'web' },
    });
  });
});

describe('a recording that cannot be read on', () => {
  it('is an error of the recording at every entry, during any call of the loop', () => {
    for (let length = 1; length < whole.entries.length; length += length < 300 ? 1 : 13) {
      const entries = function* () {
        yield* whole.entries.slice(0, length);
        throw new Error(`damaged after entry ${length}`);
      };
      expect(() => replay({ header: whole.header, entries: entries() }, kubelet)).toThrow(
        `damaged after entry ${length}`,
      );
    }
  });
});

describe('a recording that cannot be', () => {
  const firstReply = indexOf(({ kind }) => kind === 'reply');
  const firstFired = indexOf(({ kind }) => kind === 'fired');
  for (const [what, index, entry, problem] of [
    ['an unknown kind', 5, { kind: 'magic' }, 'expected an input, an output or a cut, and not the kind "magic"'],
    ['no kind', 5, { a: 1 }, 'expected an input, an output or a cut, and not the kind undefined'],
    ['nothing', 5, null, 'expected an input, an output or a cut, and not the kind undefined'],
    ['another header', 5, whole.header, 'expected an input, an output or a cut, and not the kind "recording"'],
    ['a reply to no call', firstReply, { kind: 'reply', call: 999, at: 1 }, 'no call 999 is pending'],
    ['a timer that was never set', firstFired, { kind: 'fired', timer: 999, at: 1 }, 'no timer 999 is set'],
    [
      'a value of a kind that is none',
      firstReply,
      { ...whole.entries[firstReply], value: { $magic: 1 } },
      'there is no value of the kind "$magic"',
    ],
    ['a start before the agent is made', 0, { kind: 'started', at: 0 }, 'the agent is started before it is made'],
  ] as const) {
    it(`is named with its entry: ${what}`, () => {
      expect(() => replay(changed(index, entry), kubelet)).toThrow(`entry ${index + 1} of the recording: ${problem}`);
    });
  }

  it('names the item of a listing that was never written', () => {
    const listing = whole.entries.find((entry) => entry.kind === 'call' && entry.port === 'runtime.listContainers');
    const { call } = listing as Extract<RecordingEntry, { kind: 'call' }>;
    const index = indexOf((entry) => entry.kind === 'reply' && entry.call === call);
    const entry = { ...whole.entries[index], value: { containers: { $items: [77] } } };
    const problem = `entry ${index + 1} of the recording: item 77 of a listing was never written`;
    expect(() => replay(changed(index, entry), kubelet)).toThrow(problem);
  });

  for (const [what, header, problem] of [
    ['no header', { kind: 'made', at: 0 }, 'expected the header of a recording'],
    ['half a header', { kind: 'recording', format: 1, startedAt: 0 }, 'expected the header of a recording'],
    ['a newer format', { ...whole.header, format: 2 }, 'expected the format 1, and not 2'],
  ] as const) {
    it(`has ${what}`, () => {
      const recording = { header: header as unknown as RecordingHeader, entries: whole.entries };
      expect(() => replay(recording, kubelet)).toThrow(`entry 0 of the recording: ${problem}`);
    });
  }
});
