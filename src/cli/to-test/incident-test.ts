import { isDeepStrictEqual } from 'node:util';
import type { Incident } from '../../recording/incident/incident.js';
import type { History } from '../../sim/histories/history.js';
import { alignTimes, type Observations, observeHistory } from '../../sim/incidents/observe-history.js';
import { historyOf } from './history-of.js';
import { observationsOf } from './observations-of.js';

/** A recorded machine is not as even as a simulated one: what happens may come so much earlier or later. */
const WITHIN_MS = 2_000;

/**
 * Two things that meet have no order, in a simulation as little as on a machine: that is drawn. So many draws are tried for one in which
 * everything comes as it was.
 */
const SEEDS = 32;

/** A test for vitest that lives through the incident in a simulation, and expects what could be seen of it. */
export const incidentTest = (
  incident: Incident,
  { recording, by }: { readonly recording: string; readonly by: string },
): string => {
  const untilMs = Math.max(0, historyOf(incident).endMs - WITHIN_MS);
  const expected = observationsOf(incident, untilMs);
  const { history, missing } = bestFit(incident, expected, untilMs);
  const adopted = adoptedPods(incident);
  return [
    `// Made by ${by} from ${recording}, which begins at ${new Date(incident.startedAt).toISOString()}.`,
    '// What the world did is in HISTORY: change it to ask what would have happened otherwise. What the agent made of it is in EXPECTED.',
    ...(adopted.length === 0
      ? []
      : [
          '// Nothing is expected of pods that were there before the recording began, as they start anew here:',
          ...adopted.map((pod) => `//   ${pod}`),
        ]),
    ...(missing.length === 0
      ? []
      : [
          `// None of ${SEEDS} simulations came out as it was: something was not recorded, or is not simulated. These fail:`,
          ...missing.map((who) => `//   ${who}`),
        ]),
    "import { describe, expect, it } from 'vitest';",
    "import { alignTimes, type History, type Observation, observeHistory } from 'rx-kubelet/sim';",
    '',
    '/** How much earlier or later than in the recording something may happen, in milliseconds. */',
    `const WITHIN_MS = ${WITHIN_MS};`,
    `const UNTIL_MS = ${untilMs};`,
    '',
    `const HISTORY: History = ${literal(history)};`,
    '',
    '/** By pod and container: when, in milliseconds since the beginning, and what. */',
    `const EXPECTED: Readonly<Record<string, readonly Observation[]>> = ${expectedText(expected)};`,
    '',
    "describe('what happened', () => {",
    '  const seen = observeHistory(HISTORY);',
    '',
    "  it.each(Object.keys(EXPECTED))('%s', (who) => {",
    '    const expected = EXPECTED[who] ?? [];',
    '    expect(alignTimes(seen[who], expected, { withinMs: WITHIN_MS, untilMs: UNTIL_MS })).toEqual(expected);',
    '  });',
    '',
    "  it('happened to nobody else', () => {",
    '    const expected = new Set(Object.keys(EXPECTED));',
    '    const others = Object.entries(seen).filter(([who, [first]]) => !expected.has(who) && (first?.[0] ?? 0) < UNTIL_MS - WITHIN_MS);',
    `    const known: readonly string[] = ${JSON.stringify(adopted)};`,
    "    expect(others.map(([who]) => who).filter((who) => !known.some((pod) => who.split(' ')[0] === pod))).toEqual([]);",
    '  });',
    '});',
    '',
  ].join('\n');
};

const adoptedPods = ({ instances }: Incident): readonly string[] => [
  ...new Set(instances.flatMap(({ isAdopted, namespace, pod }) => (isAdopted ? [`${namespace}/${pod}`] : []))),
];

/** The history that comes closest, and whose fate is another one in it. */
const bestFit = (
  incident: Incident,
  expected: Observations,
  untilMs: number,
): { readonly history: History; readonly missing: readonly string[] } => {
  let best: { readonly history: History; readonly missing: readonly string[] } | undefined;
  for (let seed = 1; seed <= SEEDS && best?.missing.length !== 0; seed++) {
    const history = historyOf(incident, seed);
    const seen = observeHistory(history);
    const missing = Object.entries(expected).flatMap(([who, wanted]) =>
      isDeepStrictEqual(alignTimes(seen[who], wanted, { withinMs: WITHIN_MS, untilMs }), wanted) ? [] : [who],
    );
    if (!best || missing.length < best.missing.length) best = { history, missing };
  }
  return best!;
};

const expectedText = (expected: Observations): string => {
  const entries = Object.entries(expected).map(([who, seen]) => {
    const lines = seen.map((one) => `    ${JSON.stringify(one)},`);
    return [`  ${JSON.stringify(who)}: [`, ...lines, '  ],'].join('\n');
  });
  return entries.length === 0 ? '{}' : `{\n${entries.join('\n')}\n}`;
};

/** As code that anybody can read and change. */
const literal = (value: unknown): string => JSON.stringify(value, undefined, 2);
