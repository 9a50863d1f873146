import { endOf, type Mark, marksOf, type Timeline } from './lanes.js';

/**
 * Cuts the timeline to `from` and `until`: spans are cut there, and lanes and pods without a mark and unused entries
 * are removed.
 */
export const clipTimeline = (timeline: Timeline): Timeline => {
  const { from, until, breaks, pods, entries } = timeline;
  const clip = (marks: readonly Mark[]): readonly Mark[] =>
    marks
      .filter((mark) => mark.at <= until && endOf(mark) >= from)
      .map((mark) => {
        const at = Math.max(from, mark.at);
        if (mark.until === undefined) return mark;
        return mark.until > until ? { ...mark, at, until, isOpen: true } : { ...mark, at };
      });
  const clipped: Timeline = {
    ...timeline,
    breaks: clip(breaks),
    pods: pods
      .map(({ ref, lanes }) => ({
        ref,
        lanes: lanes.map((lane) => ({ ...lane, marks: clip(lane.marks) })).filter(({ marks }) => marks.length > 0),
      }))
      .filter(({ lanes }) => lanes.length > 0),
  };
  const needed = neededIds(clipped);
  return {
    ...clipped,
    entries: entries.filter((entry) => needed.has(entry.id) || (entry.at >= from && entry.at <= until)),
  };
};

/** The entries of the marks, and all of their causes. */
const neededIds = (timeline: Timeline): ReadonlySet<string> => {
  const byId = new Map(timeline.entries.map((entry) => [entry.id, entry]));
  const needed = new Set<string>();
  const waiting = marksOf(timeline).flatMap(({ entry, endedBy, causes }) => [entry, endedBy, ...causes]);
  for (let id = waiting.pop(); waiting.length > 0 || id !== undefined; id = waiting.pop()) {
    if (id === undefined || needed.has(id)) continue;
    needed.add(id);
    waiting.push(...(byId.get(id)?.causes ?? []));
  }
  return needed;
};
