import { describe, expect, it } from 'vitest';
import { generateHistory } from '../../../src/tools/sim/histories/generate-history.js';
import type { History } from '../../../src/tools/sim/histories/history.js';
import { shrinkHistory } from '../../../src/tools/sim/histories/shrink-history.js';

const isProbed = (history: History): boolean => JSON.stringify(history.pods).includes('livenessProbe');
const losesReplies = ({ faults }: History): boolean => faults.some(({ kind }) => kind === 'reply-lost');
const fails = (history: History): boolean => isProbed(history) && losesReplies(history);

/** One with more of everything than it takes. */
const large = Array.from({ length: 3000 }, (_, seed) => generateHistory(seed)).find(
  (history) => fails(history) && history.pods.length >= 3 && history.faults.length >= 4,
)!;

describe('the shortest history that still fails', () => {
  it('has only what it takes', () => {
    const { history } = shrinkHistory(large, { fails });
    expect(fails(history)).toBe(true);
    expect(history.pods.length).toBe(1);
    expect(history.pods[0]!.changes.length).toBe(1);
    expect(history.faults.map(({ kind }) => kind)).toEqual(['reply-lost']);
    const { spec } = history.pods[0]!.changes[0]!.pod!;
    const containers = [...(spec.initContainers ?? []), ...spec.containers];
    // A pod has at least one regular container, and the probe may be that of a sidecar.
    expect(containers.filter((container) => container.livenessProbe).length).toBe(1);
    expect(containers.length).toBeLessThanOrEqual(2);
    expect(
      containers.some(({ readinessProbe, startupProbe, lifecycle }) => readinessProbe ?? startupProbe ?? lifecycle),
    ).toBe(false);
    expect(history.behaviours).toEqual({});
  });

  it('ends as long after its quiet began as the one that it was made of', () => {
    const { history } = shrinkHistory(large, { fails });
    expect(history.endMs - history.quietFromMs).toBe(large.endMs - large.quietFromMs);
    expect(history.quietFromMs).toBeLessThanOrEqual(large.quietFromMs);
  });

  it('is always the same', () => {
    expect(shrinkHistory(large, { fails })).toEqual(shrinkHistory(large, { fails }));
  });

  it('is found within the effort that is allowed', () => {
    let runs = 0;
    const counted = (history: History) => (runs++, fails(history));
    expect(shrinkHistory(large, { fails: counted, maxRuns: 7 }).runs).toBe(7);
    expect(runs).toBe(7);
  });

  it('is the given one when nothing can be left out', () => {
    const { history } = shrinkHistory(large, { fails: () => false });
    expect(history).toBe(large);
  });
});
