import { isDeepStrictEqual } from 'node:util';
import { errorText } from '../../model/cri/cri-error.js';
import type { Incident } from '../../tools/recording/incident/incident.js';
import type { History } from '../../tools/sim/histories/history.js';
import {
  alignTimes,
  type Observation,
  type Observations,
  observeHistory,
} from '../../tools/sim/incidents/observe-history.js';
import { historyOf } from './history-of.js';
import { hasReferences } from './without-cluster.js';
import { observationsOf } from './observations-of.js';

/** The tolerance for times, since a recorded machine is less even than a simulated one. */
const WITHIN_MS = 2_000;

/**
 * Two simultaneous events have no order, in a simulation as on a machine: the seed decides. The number of seeds that
 * are tried for one in which all events match.
 */
const SEEDS = 32;

export interface IncidentTest {
  readonly text: string;
  /** The reasons why it fails, or expects nothing, as texts; empty for a test that passes. */
  readonly problems: readonly string[];
}

/** A test for vitest that simulates the incident and expects the observations of the recording. */
export const incidentTest = (incident: Incident, made: MadeFrom): IncidentTest => {
  const untilMs = Math.max(0, historyOf(incident).endMs - WITHIN_MS);
  const expected = observationsOf(incident, untilMs);
  const adopted = adoptedPods(incident);
  const fit = bestFit(incident, { expected, adopted, untilMs });
  const { history } = fit;
  const problems = [...fit.problems, ...referenceProblems(incident, fit.problems)];
  const isEmpty = Object.keys(expected).length === 0;
  return {
    text: testText({ incident, made, history, expected, adopted, problems, untilMs }),
    problems: isEmpty ? [...problems, emptyBecause(adopted)] : problems,
  };
};

/**
 * The possible reason for a difference in a pod of a cluster: an object that it refers to came later, or was missing.
 */
const referenceProblems = ({ pods }: Incident, problems: readonly string[]): readonly string[] =>
  pods
    .filter(({ changes }) => changes.some(({ pod }) => pod && hasReferences(pod)))
    .map(({ namespace, name }) => `${namespace}/${name}`)
    .filter((pod) => problems.some((problem) => problem.startsWith(`${pod} `) || problem.startsWith(`${pod}:`)))
    .map(
      (pod) =>
        `${pod} refers to ConfigMaps or Secrets, which a simulated node does not have: when they came or went is not in the test`,
    );

const emptyBecause = (adopted: readonly string[]): string =>
  adopted.length === 0
    ? 'it expects nothing: the recording shows no pod'
    : `it expects nothing: ${adopted.join(', ')} existed before the recording began`;

interface MadeFrom {
  readonly recording: string;
  readonly by: string;
}

interface TestParts {
  readonly incident: Incident;
  readonly made: MadeFrom;
  readonly history: History;
  readonly expected: Observations;
  readonly adopted: readonly string[];
  readonly problems: readonly string[];
  readonly untilMs: number;
}

const testText = ({ incident, made, history, expected, adopted, problems, untilMs }: TestParts): string => {
  const { recording, by } = made;
  return [
    `// Made by ${by} from ${recording}, which begins at ${new Date(incident.startedAt).toISOString()}.`,
    '// What the world did is in HISTORY: change it to ask what would have happened otherwise. What the agent made of it is in EXPECTED.',
    ...(adopted.length === 0
      ? []
      : [
          '// Nothing is expected of pods that existed before the recording began, as they are started again here:',
          ...adopted.map((pod) => `//   ${pod}`),
        ]),
    ...(problems.length === 0
      ? []
      : [
          `// None of ${SEEDS} simulations came out as it was: something was not recorded, or is not simulated. These fail:`,
          ...problems.map((problem) => `//   ${problem.replace(/\s+/g, ' ')}`),
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
    "  it('happened to no other pod', () => {",
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

interface Wanted {
  readonly expected: Observations;
  /** Pods without expectations. */
  readonly adopted: readonly string[];
  readonly untilMs: number;
}

interface Fit {
  readonly history: History;
  readonly problems: readonly string[];
}

/** The history that comes closest, and its differences. */
const bestFit = (incident: Incident, wanted: Wanted): Fit => {
  let best: Fit | undefined;
  for (let seed = 1; seed <= SEEDS && best?.problems.length !== 0; seed++) {
    const history = historyOf(incident, seed);
    const problems = problemsOf(history, wanted);
    if (!best || problems.length < best.problems.length) best = { history, problems };
  }
  return best!;
};

const problemsOf = (history: History, { expected, adopted, untilMs }: Wanted): readonly string[] => {
  let seen: Observations;
  try {
    seen = observeHistory(history);
  } catch (error) {
    return [`the simulation ends early: ${errorText(error)}`];
  }
  return [
    ...Object.entries(expected).flatMap(([who, wanted]) => {
      const had = alignTimes(seen[who], wanted, { withinMs: WITHIN_MS, untilMs });
      if (isDeepStrictEqual(had, wanted)) return [];
      const at = [...wanted.keys()].find((index) => !isDeepStrictEqual(had[index], wanted[index])) ?? wanted.length;
      return [`${who}: expected ${observationText(wanted[at])}, and saw ${observationText(had[at])}`];
    }),
    ...Object.entries(seen).flatMap(([who, [first]]) => {
      const isExpected = who in expected || adopted.includes(who.split(' ')[0] ?? '');
      return isExpected || (first?.[0] ?? 0) >= untilMs - WITHIN_MS
        ? []
        : [`${who}: expected nothing, and saw ${observationText(first)}`];
    }),
  ];
};

const observationText = (one: Observation | undefined): string =>
  one ? `${one[1]} at ${(one[0] / 1000).toFixed(1)} s` : 'nothing more';

const expectedText = (expected: Observations): string => {
  const entries = Object.entries(expected).map(([who, seen]) => {
    const lines = seen.map((one) => `    ${JSON.stringify(one)},`);
    return [`  ${JSON.stringify(who)}: [`, ...lines, '  ],'].join('\n');
  });
  return entries.length === 0 ? '{}' : `{\n${entries.join('\n')}\n}`;
};

/** As code that users can read and change. */
const literal = (value: unknown): string => JSON.stringify(value, undefined, 2);
