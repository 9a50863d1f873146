import { logInstant } from '../logs/log-time.js';
import { patternProblem } from './pattern-problem.js';

export interface NodeLogOptions {
  /** Unix milliseconds. */
  readonly sinceTime?: number;
  /** Unix milliseconds. */
  readonly untilTime?: number;
  readonly tailLines?: number;
  /** 0 for the current boot, -1 for the one before. */
  readonly boot?: number;
  readonly pattern?: string;
}

/** A query of the logs of services. */
export interface ServiceLogQuery {
  readonly services: readonly string[];
  readonly options: NodeLogOptions;
}

export type NodeLogQuery =
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly status: 400 | 406; readonly text: string }
  /** The path is below the directory of logs. */
  | { readonly kind: 'file'; readonly path: string }
  | ({ readonly kind: 'services' } & ServiceLogQuery);

/** Source: pkg/kubelet/kubelet_server_journal.go maxTailLines, maxServiceLength, maxServices */
const MOST_LINES = 100_000;
const LONGEST_SERVICE = 256;
const MOST_SERVICES = 4;
/** A pattern is an argument of a program; the kubelet has no limit. */
const LONGEST_PATTERN = 4_096;

/**
 * Reads the parameters of `/logs/`. A value of `query` with a slash or a backslash is a file, any other one a service.
 * All problems are reported together: 400 for values that cannot be read, 406 for those that are not allowed.
 *
 * Source: pkg/kubelet/kubelet_server_journal.go newNodeLogQuery, validate
 */
export const nodeLogQuery = (query: URLSearchParams): NodeLogQuery => {
  const queries = query.getAll('query');
  const files = queries.filter((value) => /[/\\]/.test(value));
  const services = queries.filter((value) => !/[/\\]/.test(value) && value.trim() !== '');
  const problems: string[] = [];
  if (queries.length > 0 && files.length + services.length === 0) {
    problems.push(invalid('query', queries, 'query cannot be empty'));
  }
  const read = <T>(name: string, parse: (text: string) => T | undefined, problem: (text: string) => string) => {
    const text = query.get(name) ?? '';
    if (text === '') return undefined;
    const value = parse(text);
    if (value === undefined) problems.push(invalid(name, text, problem(text)));
    return value;
  };
  const time = (name: string) => read(name, timeOf, () => 'invalid time format');
  const whole = (name: string) => read(name, wholeNumber, syntaxProblem);
  const [sinceTime, untilTime, boot, tailLines] = [
    time('sinceTime'),
    time('untilTime'),
    whole('boot'),
    whole('tailLines'),
  ];
  const pattern = query.get('pattern') || undefined;
  if (problems.length > 0) return { kind: 'refused', status: 400, text: together(problems) };
  const options: NodeLogOptions = Object.fromEntries(
    Object.entries({ sinceTime, untilTime, tailLines, boot, pattern }).filter(([, value]) => value !== undefined),
  );
  const hasOptions = Object.keys(options).length > 0;
  if (queries.length === 0 && !hasOptions) return { kind: 'none' };
  const refusals = [
    ...serviceProblems(services),
    ...subjectProblems(files, services, hasOptions),
    ...optionProblems(options),
  ];
  if (refusals.length > 0) return { kind: 'refused', status: 406, text: together(refusals) };
  const [file] = files;
  return file === undefined
    ? { kind: 'services', services, options }
    : { kind: 'file', path: file.replaceAll('\\', '/') };
};

/** The services of a query, by the place of their logs. */
export interface PlacedServices {
  readonly inJournal: readonly string[];
  readonly inFiles: readonly string[];
}

/** Returns the services that are units of the journal, and all others; all are others while the `units` are not known. */
export const placeServices = (services: readonly string[], units: ReadonlySet<string> | undefined): PlacedServices => {
  const isUnit = (service: string): boolean => (units?.has(`${service}.service`) || units?.has(service)) ?? false;
  return {
    inJournal: services.filter(isUnit),
    inFiles: services.filter((service) => !isUnit(service)),
  };
};

/** The text of a value that is not allowed, as the API writes it. */
export const invalid = (name: string, value: unknown, detail: string): string =>
  `${name}: Invalid value: ${JSON.stringify(value)}: ${detail}`;

const serviceProblems = (services: readonly string[]): readonly string[] => [
  ...services.flatMap((service) => {
    if (service.length > LONGEST_SERVICE) {
      return [invalid('query', service, `length must be at most ${LONGEST_SERVICE}`)];
    }
    return /^[\w\-.:@]+$/.test(service) ? [] : [invalid('query', service, 'input contains unsupported characters')];
  }),
  ...(services.length > MOST_SERVICES
    ? [`query: Too many: ${services.length}: must have at most ${MOST_SERVICES} items`]
    : []),
];

const subjectProblems = (
  files: readonly string[],
  services: readonly string[],
  hasOptions: boolean,
): readonly string[] => {
  if (files.length + services.length === 0) return ['query: Required value: cannot be empty with options'];
  if (files.length === 0) return [];
  if (services.length > 0) {
    return [invalid('query', `[${files.join(' ')}], [${services.join(' ')}]`, 'cannot specify a file and service')];
  }
  if (files.length > 1) return [invalid('query', files, 'cannot specify more than one file')];
  return hasOptions ? [invalid('query', files, 'cannot specify file with options')] : [];
};

const optionProblems = ({ sinceTime, untilTime, boot, tailLines, pattern }: NodeLogOptions): readonly string[] => {
  const problem =
    pattern === undefined
      ? undefined
      : pattern.length > LONGEST_PATTERN
        ? `length must be at most ${LONGEST_PATTERN}`
        : patternProblem(pattern);
  return [
    ...(sinceTime !== undefined && untilTime !== undefined && sinceTime > untilTime
      ? [invalid('untilTime', new Date(untilTime).toISOString(), 'must be after `sinceTime`')]
      : []),
    ...(boot !== undefined && boot > 0 ? [invalid('boot', boot, 'must be less than 1')] : []),
    ...(tailLines !== undefined && (tailLines < 0 || tailLines > MOST_LINES)
      ? [invalid('tailLines', tailLines, `must be between 0 and ${MOST_LINES}, inclusive`)]
      : []),
    ...(problem === undefined ? [] : [invalid('pattern', pattern, problem)]),
  ];
};

const timeOf = (text: string): number | undefined => {
  const instant = logInstant(text);
  return instant === undefined ? undefined : Number(instant / 1_000_000n);
};

const wholeNumber = (text: string): number | undefined => {
  const value = /^[+-]?\d{1,15}$/.test(text) ? Number(text) : undefined;
  // Not -0.
  return value === undefined ? undefined : value + 0;
};

/** Source: strconv.Atoi of Go */
const syntaxProblem = (text: string): string => `strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;

/** Source: ToAggregate of the errors of the API: each problem once. */
const together = (problems: readonly string[]): string => {
  const each = [...new Set(problems)];
  return each.length === 1 ? `${each[0]}\n` : `[${each.join(', ')}]\n`;
};
