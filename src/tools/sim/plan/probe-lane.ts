import type { Lane, Mark } from '../../timeline/lanes.js';
import type { ProbeName } from '../world/behaviour.js';
import type { PodTrace } from './pod-trace.js';

/** The number of marks at the begin and at the end of equal results in a row. */
const MARKED = 100;

/** The attempts of a probe, without the middle of long rows, and every verdict. */
export const probeLane = (container: string, probe: ProbeName, trace: PodTrace, endMs: number): Lane => {
  const { pod, events, startMs } = trace;
  const id = `${pod.metadata.uid}/${container}/${probe}`;
  const verdicts = events.flatMap((event) => {
    if (event.kind !== 'journal' || event.entry.kind !== 'probe') return [];
    return event.entry.container === container && event.entry.probe === probe ? [event.entry] : [];
  });
  const ends = events.flatMap((event) =>
    event.kind === 'container-exited' && event.container === container ? [event.at] : [],
  );
  const marks: readonly Mark[] = [
    ...runsOf(container, probe, trace).flatMap((run, index) => runMarks(run, { id: `${id}/${index}`, probe, startMs })),
    ...verdicts.map((entry, index): Mark => {
      const isGood = entry.result === 'success';
      const next = verdicts[index + 1]?.at ?? Infinity;
      const until = Math.min(next, ends.find((at) => at >= entry.at) ?? Infinity, endMs + startMs);
      return {
        id: `${id}/verdict/${index}`,
        at: entry.at - startMs,
        until: until - startMs,
        look: isGood ? 'passing' : 'failing',
        label: isGood ? 'passing' : 'failing',
        text: `the ${probe} probe ${isGood ? 'succeeds' : 'fails'}, by its threshold`,
        severity: isGood ? 'good' : 'error',
        entry: entry.id,
        causes: entry.causes,
      };
    }),
  ];
  return { kind: 'probe', name: `${container} ${probe}`, container, marks: marks.toSorted((a, b) => a.at - b.at) };
};

interface Run {
  readonly ok: boolean;
  readonly ats: readonly number[];
}

/** Attempts with equal results in a row, of one instance. */
const runsOf = (container: string, probe: ProbeName, { events }: PodTrace): readonly Run[] => {
  const runs: { ok: boolean; containerId: string; ats: number[] }[] = [];
  for (const event of events) {
    if (event.kind !== 'asked' || event.which !== probe || event.container !== container) continue;
    const last = runs.at(-1);
    if (last?.ok === event.ok && last.containerId === event.containerId) last.ats.push(event.at);
    else runs.push({ ok: event.ok, containerId: event.containerId, ats: [event.at] });
  }
  return runs;
};

const runMarks = (
  { ok, ats }: Run,
  { id, probe, startMs }: { readonly id: string; readonly probe: ProbeName; readonly startMs: number },
): readonly Mark[] =>
  ats.flatMap((at, index): readonly Mark[] => {
    if (index >= MARKED && index < ats.length - MARKED) return [];
    const isFirst = index === 0;
    const count = isFirst && ats.length > 1 ? `, the first of ${ats.length} in a row` : '';
    return [
      {
        id: `${id}/${index}`,
        at: at - startMs,
        look: ok ? 'success' : 'failure',
        causes: [],
        label: ok ? 'success' : 'failure',
        text: `the ${probe} probe ${ok ? 'succeeds' : 'fails'}${count}`,
        // A changed result is news, its confirmation is not.
        ...(isFirst ? { severity: ok ? 'note' : 'warning' } : { severity: 'quiet', routine: `${probe} probe` }),
      },
    ];
  });
