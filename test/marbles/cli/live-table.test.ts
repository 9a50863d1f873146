import { describe, expect, it } from 'vitest';
import { type Frame, frames, frameText } from '../../../src/cli/live-table.js';
import type { Note } from '../../../src/cli/kubelet-handle.js';
import type { Pod } from '../../../src/model/pod.js';
import { marbles } from '../marbles.js';

const podCalled = (name: string): Pod => ({
  metadata: { name, namespace: 'default', uid: name },
  spec: { containers: [] },
});
const pods = { a: [podCalled('a')], b: [podCalled('b')], c: [podCalled('c')] };
const note = (text: string, level: Note['level'] = 'info'): Note => ({ level, text });

describe('frames', () => {
  it(
    'come at most every 250 ms, and the last one of a burst always comes',
    marbles(({ hot, cold, expectObservable, scheduler }) => {
      const pod$ = hot('a-b-c 600ms a', pods);
      const expected = 'x 249ms y 354ms z';
      const unsub = '   700ms !';
      expectObservable(frames(pod$, cold<Note>(''), scheduler), unsub).toBe(expected, {
        x: { pods: pods.a, notes: [] },
        y: { pods: pods.c, notes: [] },
        z: { pods: pods.a, notes: [] },
      });
    }),
  );

  it(
    'come once a second when nothing happens, for the ages',
    marbles(({ cold, expectObservable, scheduler }) => {
      const pod$ = cold('a', pods);
      const frame = { pods: pods.a, notes: [] };
      expectObservable(frames(pod$, cold<Note>(''), scheduler), '2500ms !').toBe('x 999ms x 999ms x', { x: frame });
    }),
  );

  it(
    'carry the last six notes',
    marbles(({ cold, expectObservable, scheduler }) => {
      const pod$ = cold(' a', pods);
      const notes$ = frames(
        pod$,
        cold('--(abcdefg)', Object.fromEntries('abcdefg'.split('').map((n) => [n, note(n)]))),
        scheduler,
      );
      const seven: Frame = { pods: pods.a, notes: 'bcdefg'.split('').map((n) => note(n)) };
      expectObservable(notes$, '500ms !').toBe('x 249ms y', { x: { pods: pods.a, notes: [] }, y: seven });
    }),
  );
});

describe('a frame as text', () => {
  it('has the table and the notes beneath, cut to the width of the terminal', () => {
    expect(frameText({ pods: pods.a, notes: [note('started a'), note('broken', 'warn')] }, 0, 30)).toBe(
      ['NAMESPACE   NAME   READY   ST…', 'default     a      0/0     Un…', '', 'started a', 'warn: broken'].join('\n'),
    );
    expect(frameText({ pods: [], notes: [] }, 0, 30)).toBe('No pods yet.');
  });
});
