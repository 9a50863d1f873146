import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { type Frame, frameText } from '../../../src/cli/screen/frame-text.js';
import { frames, liveTable } from '../../../src/cli/screen/live-table.js';
import type { Note } from '../../../src/cli/kubelet/kubelet-handle.js';
import type { Pod } from '../../../src/model/pod/pod.js';
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
        x: { pods: pods.a, notes: [], refused: [] },
        y: { pods: pods.c, notes: [], refused: [] },
        z: { pods: pods.a, notes: [], refused: [] },
      });
    }),
  );

  it(
    'come once a second when nothing happens, for the ages',
    marbles(({ cold, expectObservable, scheduler }) => {
      const pod$ = cold('a', pods);
      const frame = { pods: pods.a, notes: [], refused: [] };
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
      const seven: Frame = { pods: pods.a, notes: 'bcdefg'.split('').map((n) => note(n)), refused: [] };
      expectObservable(notes$, '500ms !').toBe('x 249ms y', { x: { pods: pods.a, notes: [], refused: [] }, y: seven });
    }),
  );
});

describe('the table on a terminal', () => {
  it(
    'is drawn on a clean screen in the new width when the terminal changes its size, and stays at the end',
    marbles(({ cold, expectObservable, flush, scheduler }) => {
      const written: string[] = [];
      const terminal = Object.assign(new EventEmitter(), {
        ...{ columns: 40, rows: 10 },
        write: (text: string) => written.push(`${scheduler.now()} ${text}`) > 0,
      });
      const narrow = () => {
        terminal.columns = 14;
        terminal.emit('resize');
      };
      const frame: Frame = { pods: [], notes: [note('a line of twenty-six signs')] };
      const table$ = liveTable(cold('f', { f: frame }), terminal as unknown as NodeJS.WriteStream, () => 0);
      scheduler.schedule(narrow, 3);
      const expected = 'f--f-';
      const unsub = '   -----!';
      expectObservable(table$, unsub).toBe(expected, { f: frame });
      flush();
      const at = (time: number) => written.filter((text) => text.startsWith(`${time} `)).join('');
      expect(at(0)).toContain('a line of twenty-six signs');
      const [before, cleared, after] = at(3).split(/(\x1b\[H\x1b\[2J)/);
      expect(before).not.toContain('signs');
      expect(cleared).toBeDefined();
      expect(after).toContain('a line of twe…');
      expect(at(5)).not.toContain('\x1b[2J');
      expect(terminal.listenerCount('resize')).toBe(0);
    }),
  );
});

const podIn = (phase: string, index: number): Pod => ({
  metadata: { name: `pod${String(index).padStart(2, '0')}-vm`, namespace: 'default', uid: `${index}` },
  spec: { containers: [{ name: 'c' }] },
  status: {
    phase,
    containerStatuses: [
      {
        ...{ name: 'c', image: 'i', imageID: 'i', restartCount: 0, ready: phase === 'Running' },
        state: phase === 'Running' ? { running: {} } : { waiting: { reason: phase } },
      },
    ],
  },
});
const many = (running: number, failing: number): readonly Pod[] => [
  ...Array.from({ length: running }, (_, index) => podIn('Running', index)),
  ...Array.from({ length: failing }, (_, index) => podIn('CrashLoopBackOff', running + index)),
];
const notes = 'abcdef'.split('').map((name) => note(`pod ${name} was started`));
const lines = (frame: Frame, width: number, height: number) => frameText(frame, 0, { width, height }).split('\n');

describe('a frame as text', () => {
  it('has the table and the notes beneath, cut to the width of the terminal', () => {
    const shown = lines(
      { pods: pods.a, notes: [note('started a'), note('broken and more than fits', 'warn')] },
      30,
      20,
    );
    expect(shown.slice(2)).toEqual(['', 'started a', 'warn: broken and more than fi…']);
    expect(frameText({ pods: [], notes: [] }, 0, { width: 30, height: 20 })).toBe('No pods yet.');
  });

  it('of 30 pods at 80x24 has the heading, those in trouble, a count of the others, and the newest notes', () => {
    const shown = lines({ pods: many(28, 2), notes }, 80, 23);
    expect(shown).toHaveLength(23);
    expect(shown[0]).toMatch(/^NAMESPACE +NAME +READY +STATUS/);
    expect(shown.filter((line) => line.includes('CrashLoopBackOff'))).toHaveLength(2);
    expect(shown).toContain('13 more pods: 13 Running');
    expect(shown.slice(-4)).toEqual(['', 'pod d was started', 'pod e was started', 'pod f was started']);
  });

  it('of 30 pods at 40x8 has name and status of those in trouble, and a count', () => {
    const shown = lines({ pods: many(28, 2), notes }, 40, 7);
    expect(shown).toHaveLength(7);
    expect(shown[0]).toMatch(/^NAME +READY +STATUS$/);
    for (const name of ['pod28', 'pod29'])
      expect(shown.join('\n')).toMatch(new RegExp(`^${name}-vm +0/1 +CrashLoopBackOff$`, 'm'));
    expect(shown.at(-1)).toBe('25 more pods: 25 Running');
    expect(shown.every(({ length }) => length <= 40)).toBe(true);
  });

  it('shows what is refused, and counts what of it has no room', () => {
    const refused = Array.from({ length: 9 }, (_, index) => `m/bad${index}.yaml:3:1: spec: is missing`);
    const shown = lines({ pods: many(12, 0), notes, refused }, 80, 23);
    expect(shown).toHaveLength(23);
    expect(shown).toContain('refused: m/bad0.yaml:3:1: spec: is missing');
    expect(shown).toContain('5 more refused manifests');
    expect(lines({ pods: many(30, 0), notes, refused }, 40, 7)).toContain('9 refused manifests');
  });

  it('shortens names, not the status, where it is narrow', () => {
    const long = podIn('CrashLoopBackOff', 1);
    const pod = { ...long, metadata: { ...long.metadata, name: 'a-very-long-name-of-a-pod-on-some-machine-vm' } };
    expect(lines({ pods: [pod], notes: [] }, 40, 7)[1]).toMatch(/^a-very-l\S*… +0\/1 +CrashLoopBackOff$/);
  });

  it('spares the room of UIDs', () => {
    const text = 'pod08-vm_default(89b569ebbe3be4219e6150f49d136e09)/c Failed: Error';
    expect(lines({ pods: [], notes: [note(text, 'warn')] }, 60, 20)).toContain(
      'warn: pod08-vm_default/c Failed: Error',
    );
  });

  it.each([1, 2, 3, 5, 8, 13, 24])('never has more lines than there are: %i', (height) => {
    const refused = ['one', 'two', 'three'];
    for (const count of [0, 1, 3, 30]) {
      expect(lines({ pods: many(count, 1), notes, refused }, 40, height).length).toBeLessThanOrEqual(
        Math.max(3, height),
      );
    }
  });
});
