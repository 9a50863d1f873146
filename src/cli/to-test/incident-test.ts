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

export type IncidentTest =
  | { readonly kind: 'test'; readonly text: string }
  /** The simulation does not come out as the recording did; `differences` are the nearest ones, as texts. */
  | { readonly kind: 'does-not-replay'; readonly differences: readonly string[] }
  | { readonly kind: 'nothing-to-expect'; readonly because: string };

/**
 * A test for vitest that simulates the incident and expects the observations of the recording; it passes with this version of the
 * agent. A pod from before the recording is expected as far as it behaves like a new one: it had been stopped. Only a recording that does
 * not replay otherwise has the greater tolerance of a slow machine.
 */
export const incidentTest = (incident: Incident, made: MadeFrom): IncidentTest => {
  const test = testWithin(WITHIN_MS, incident, made);
  return test.kind === 'does-not-replay' && incident.slowMs > 0
    ? testWithin(WITHIN_MS + incident.slowMs, incident, made)
    : test;
};

const testWithin = (withinMs: number, incident: Incident, made: MadeFrom): IncidentTest => {
  const untilMs = Math.max(0, historyOf(incident).endMs - withinMs);
  const wantedWithout = (leftOut: readonly string[]): Wanted => ({
    expected: observationsOf(incident, { leftOut, untilMs }),
    leftOut,
    withinMs,
    untilMs,
  });
  const earlier = (ran: boolean): readonly string[] =>
    incident.earlierPods.flatMap(({ namespace, pod, isRunning }) => (isRunning === ran ? [`${namespace}/${pod}`] : []));
  let wanted = wantedWithout(earlier(true));
  let fit = bestFit(incident, wanted);
  const unlike = earlier(false).filter((pod) => fit.problems.some(({ who }) => who.split(' ')[0] === pod));
  if (unlike.length > 0) {
    wanted = wantedWithout([...wanted.leftOut, ...unlike]);
    fit = bestFit(incident, wanted);
  }
  if (Object.keys(wanted.expected).length === 0)
    return { kind: 'nothing-to-expect', because: emptyBecause(incident, wanted) };
  if (fit.problems.length > 0)
    return {
      kind: 'does-not-replay',
      differences: [...fit.problems.map(({ text }) => text), ...referenceProblems(incident, fit.problems)],
    };
  return { kind: 'test', text: testText({ incident, made, history: fit.history, ...wanted }) };
};

/**
 * The possible reason for a difference in a pod of a cluster: an object that it refers to came later, or was missing.
 */
const referenceProblems = ({ pods }: Incident, problems: readonly Problem[]): readonly string[] =>
  pods
    .filter(({ source, changes }) => source === 'api' && changes.some(({ pod }) => pod && hasReferences(pod)))
    .map(({ namespace, name }) => `${namespace}/${name}`)
    .filter((pod) => problems.some(({ who }) => who.split(' ')[0] === pod))
    .map(
      (pod) =>
        `${pod} refers to objects of an API server, which a simulated node does not have: when they came or went is not in the test`,
    );

const emptyBecause = (incident: Incident, { leftOut, withinMs, untilMs }: Wanted): string => {
  if (Object.keys(observationsOf(incident, { leftOut, untilMs: Infinity })).length > 0)
    return `all that the recording shows of pods is after ${(untilMs / 1000).toFixed(1)} s, in the ${(withinMs / 1000).toFixed(1)} s before its end, in which nothing is expected: record for longer`;
  return leftOut.length === 0
    ? 'the recording shows no start, end or event of a pod'
    : `${leftOut.join(', ')} existed before the recording began`;
};

interface MadeFrom {
  readonly recording: string;
  readonly by: string;
}

interface TestParts extends Wanted {
  readonly incident: Incident;
  readonly made: MadeFrom;
  readonly history: History;
}

const testText = ({ incident, made, history, expected, leftOut, withinMs, untilMs }: TestParts): string => {
  const { recording, by } = made;
  return [
    `// Made by ${by} from ${recording}, which begins at ${new Date(incident.startedAt).toISOString()}.`,
    '// What the world did is in HISTORY: change it to ask what would have happened otherwise. What the agent made of it is in EXPECTED.',
    ...(leftOut.length === 0
      ? []
      : [
          '// Nothing is expected of pods that existed before the recording began, as they are started again here:',
          ...leftOut.map((pod) => `//   ${pod}`),
        ]),
    "import { describe, expect, it } from 'vitest';",
    "import { alignTimes, type History, type Observation, observeHistory } from 'rx-kubelet/sim';",
    '',
    '/** How much earlier or later than in the recording something may happen, in milliseconds. */',
    `const WITHIN_MS = ${withinMs};`,
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
    `    const known: readonly string[] = ${JSON.stringify(leftOut)};`,
    "    expect(others.map(([who]) => who).filter((who) => !known.some((pod) => who.split(' ')[0] === pod))).toEqual([]);",
    '  });',
    '});',
    '',
  ].join('\n');
};

interface Wanted {
  readonly expected: Observations;
  /** Pods without expectations. */
  readonly leftOut: readonly string[];
  /** The tolerance for times. */
  readonly withinMs: number;
  /** Nothing is expected after this time. */
  readonly untilMs: number;
}

/** A difference of a pod or container, as a text. */
interface Problem {
  readonly who: string;
  readonly text: string;
}

interface Fit {
  readonly history: History;
  readonly problems: readonly Problem[];
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

const problemsOf = (history: History, { expected, leftOut, withinMs, untilMs }: Wanted): readonly Problem[] => {
  let seen: Observations;
  try {
    seen = observeHistory(history);
  } catch (error) {
    return [{ who: '', text: `the simulation ends early: ${errorText(error)}` }];
  }
  return [
    ...Object.entries(expected).flatMap(([who, wanted]) => {
      const had = alignTimes(seen[who], wanted, { withinMs, untilMs });
      if (isDeepStrictEqual(had, wanted)) return [];
      const at = [...wanted.keys()].find((index) => !isDeepStrictEqual(had[index], wanted[index])) ?? wanted.length;
      const text = `${who}: expected ${observationText(wanted[at])}, and saw ${observationText(had[at])}`;
      return [{ who, text }];
    }),
    ...Object.entries(seen).flatMap(([who, [first]]) => {
      const isExpected = who in expected || leftOut.includes(who.split(' ')[0] ?? '');
      return isExpected || (first?.[0] ?? 0) >= untilMs - withinMs
        ? []
        : [{ who, text: `${who}: expected nothing, and saw ${observationText(first)}` }];
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
