import { STRUCTURED_GROUP, STRUCTURED_VERSION, type StructuredKind } from './accepted-form.js';

/** The facts of `/statusz`. */
export interface ProcessFacts {
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** The version of the agent. */
  readonly version: string;
  /** The version of Node.js, such as `v20.20.2`. */
  readonly nodeVersion: string;
  /** The release of Kubernetes whose kubelet the agent implements. */
  readonly emulationVersion: string;
  /** The paths that the port serves, beginning with a slash. */
  readonly paths: readonly string[];
}

const COMPONENT = 'kubelet';
/** A program that reads the text would have to expect each of them. */
export const DELIMITERS: readonly string[] = [':', ': ', '=', ' '];

const WARNING =
  'Warning: This page is for people who look for a fault. Its format may change in any release; programs read the JSON form.';

/** The page of `/statusz`. Source: staging/src/k8s.io/component-base/zpages/statusz/statusz.go */
export const statusText = (facts: ProcessFacts, now: number, delimiter: string): string => {
  const { startedAt, version, nodeVersion, emulationVersion, paths } = facts;
  return pageOf('statusz', delimiter, [
    ['Started', new Date(startedAt).toUTCString()],
    ['Up', uptimeText(uptimeSeconds(startedAt, now))],
    ['Node.js version', nodeVersion],
    ['Binary version', version],
    ['Emulation version', emulationVersion],
    ['Paths', paths.join(' ')],
  ]);
};

/** The object of `/statusz`. The agent has no version of Go: the field holds that of Node.js. */
export const statusObject = (facts: ProcessFacts, now: number): object => {
  const { startedAt, version, nodeVersion, emulationVersion, paths } = facts;
  return {
    ...headOf('Statusz'),
    startTime: `${new Date(startedAt).toISOString().slice(0, -5)}Z`,
    uptimeSeconds: uptimeSeconds(startedAt, now),
    goVersion: `Node.js ${nodeVersion}`,
    binaryVersion: version,
    emulationVersion,
    paths,
  };
};

/** The page of `/flagz`: flags by name, with their values. Source: staging/src/k8s.io/component-base/zpages/flagz/flagz.go */
export const flagText = (flags: Readonly<Record<string, string>>, delimiter: string): string =>
  pageOf('flags', delimiter, sorted(flags));

/** The object of `/flagz`. */
export const flagObject = (flags: Readonly<Record<string, string>>): object => ({
  ...headOf('Flagz'),
  flags: Object.fromEntries(sorted(flags)),
});

const sorted = (flags: Readonly<Record<string, string>>): [string, string][] =>
  Object.entries(flags).sort(([a], [b]) => (a < b ? -1 : 1));

const headOf = (kind: StructuredKind): object => ({
  kind,
  apiVersion: `${STRUCTURED_GROUP}/${STRUCTURED_VERSION}`,
  metadata: { name: COMPONENT },
});

/** One line for each fact: a line break in a value must not begin another one. */
const pageOf = (name: string, delimiter: string, lines: readonly (readonly [string, string])[]): string =>
  [
    '',
    `${COMPONENT} ${name}`,
    WARNING,
    '',
    ...lines.map(([key, value]) => `${key}${delimiter}${value.replace(/[\r\n]+/g, ' ')}`),
    '',
  ].join('\n');

/** A clock that was set back does not make it negative. */
const uptimeSeconds = (startedAt: number, now: number): number => Math.max(0, Math.floor((now - startedAt) / 1_000));

const uptimeText = (seconds: number): string => {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${Math.floor(seconds / 3_600)} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`;
};
