import { describeWrong } from '../../model/manifest/check-shape.js';
import { type FieldIssue, type FieldPath, issue } from '../../model/manifest/field-issue.js';
import {
  duration,
  fields,
  flag,
  isMapping,
  mapOf,
  oneOf,
  oneOrMore,
  type ReadField,
  wholeNumber,
  words,
} from './read-field.js';
import type { ImageBehaviour, LatencyRange, ProbeFailure, StopBehaviour } from '../behaviour.js';
import type { HookScript, InstanceScript, NodeScript, Scenario, TimelineStep } from './scenario.js';

const EXIT_CODE = wholeNumber(0, 255);

const readFailing: ReadField<ProbeFailure> = (value, path, issues) => {
  const read = fields('a time of failing probes', {
    from: duration,
    to: duration,
    probe: oneOf('startup', 'readiness', 'liveness'),
    path: words('the path of an httpGet'),
    port: wholeNumber(1, 65_535),
    how: oneOf('fails', 'refuses', 'hangs'),
  })(value, path, issues);
  if (!read) return undefined;
  const { from: fromMs, to: toMs, probe: which, path: asked, port, how } = read;
  if (toMs !== undefined && toMs <= (fromMs ?? 0))
    issues.push(issue([...path, 'to'], 'is not after from', 'a later time'));
  return given({ fromMs, toMs, which, path: asked, port, how });
};

const readHook: ReadField<HookScript> = (value, path, issues) => {
  const read = fields('a hook', { takes: duration, exitCode: EXIT_CODE })(value, path, issues);
  return read && given({ takesMs: read.takes, exitCode: read.exitCode });
};

const INSTANCE = {
  startsAfter: duration,
  startError: words('what the runtime says'),
  readyAfter: duration,
  exitsAfter: duration,
  exitCode: EXIT_CODE,
  outOfMemory: flag,
  onStop: oneOf('exits', 'hangs'),
  stopsAfter: duration,
  stopExitCode: EXIT_CODE,
  failsProbes: oneOrMore(readFailing),
  probesTake: duration,
  postStart: readHook,
  preStop: readHook,
  lastWords: words('what the program writes when it ends'),
};

const readInstance: ReadField<InstanceScript> = (value, path, issues) => {
  const read = fields('an instance of a container', INSTANCE)(value, path, issues);
  if (!read) return undefined;
  for (const name of ['exitCode', 'outOfMemory'])
    if (mentions(value, name) && !mentions(value, 'exitsAfter'))
      issues.push(issue([...path, name], 'has no effect without exitsAfter', 'exitsAfter beside it'));
  for (const name of ['stopsAfter', 'stopExitCode'])
    if (read.onStop === 'hangs' && mentions(value, name))
      issues.push(issue([...path, name], 'contradicts onStop: hangs', 'one of the two'));
  return given({
    startsAfterMs: read.startsAfter,
    startError: read.startError,
    readyAfterMs: read.readyAfter,
    exitsAfterMs: read.exitsAfter,
    exitCode: read.exitCode,
    outOfMemory: read.outOfMemory,
    onStop: stopOf(read.onStop, read.stopsAfter, read.stopExitCode),
    probeFailures: read.failsProbes,
    answersAfterMs: read.probesTake,
    postStart: read.postStart,
    preStop: read.preStop,
    terminationMessage: read.lastWords,
  });
};

const stopOf = (
  onStop: 'exits' | 'hangs' | undefined,
  stopsAfter: number | undefined,
  exitCode: number | undefined,
): StopBehaviour | undefined => {
  if (onStop === 'hangs') return { kind: 'hangs' };
  const isSaid = onStop ?? stopsAfter ?? exitCode;
  return isSaid === undefined ? undefined : { kind: 'exits', afterMs: stopsAfter ?? 0, ...given({ exitCode }) };
};

const readFailures: ReadField<number> = (value, path, issues) => {
  if (value === 'always') return Infinity;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  issues.push(issue(path, describeWrong(value), 'a number of pulls, or always'));
  return undefined;
};

/** While time goes on nobody counts pulls. */
const readLasting: ReadField<number> = (value, path, issues) => {
  if (value === 'always') return Infinity;
  if (value === 0) return 0;
  issues.push(issue(path, describeWrong(value), '0 or always'));
  return undefined;
};

const IMAGE = {
  pull: duration,
  present: flag,
  failures: readFailures,
  error: words('what the registry says'),
};

const readImage: ReadField<ImageBehaviour> = (value, path, issues) => {
  const read = fields('an image', IMAGE)(value, path, issues);
  if (read && mentions(value, 'error') && !mentions(value, 'failures'))
    issues.push(issue([...path, 'error'], 'has no effect without failures', 'failures beside it'));
  return read && imageOf(read);
};

const imageOf = ({ pull: pullMs, present: isPresent, failures = 0, error }: ImageFields): ImageBehaviour => ({
  ...given({ pullMs, isPresent }),
  ...(failures > 0 && {
    pullError: { message: error ?? 'not found', ...(Number.isFinite(failures) && { times: failures }) },
  }),
});

interface ImageFields {
  readonly pull?: number;
  readonly present?: boolean;
  /** Infinite for good. */
  readonly failures?: number;
  readonly error?: string;
}

/** A duration, or the shortest and the longest one. */
const readRange: ReadField<LatencyRange> = (value, path, issues) => {
  if (!isMapping(value)) {
    const milliseconds = duration(value, path, issues);
    return milliseconds === undefined ? undefined : { min: milliseconds, max: milliseconds };
  }
  const read = fields('a range', { from: duration, to: duration }, { required: ['from', 'to'] })(value, path, issues);
  if (read?.from === undefined || read.to === undefined) return undefined;
  if (read.to < read.from) issues.push(issue([...path, 'to'], 'is less than from', 'a longer duration'));
  return { min: read.from, max: read.to };
};

const NODE = {
  callsTake: readRange,
  sandboxesTake: readRange,
  eventsTake: readRange,
  noEvents: flag,
  eventedPLEG: flag,
};

const readNode: ReadField<NodeScript> = (value, path, issues) => {
  const read = fields('the node', NODE)(value, path, issues);
  return (
    read &&
    given({
      callMs: read.callsTake,
      sandboxMs: read.sandboxesTake,
      eventMs: read.eventsTake,
      tellsNoEvents: read.noEvents,
      eventedPleg: read.eventedPLEG,
    })
  );
};

/** Without what is undefined. */
const given = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;

/** What a step does, by the field that says so. */
const EFFECTS = ['deletePod', 'restartAgent', 'restartRuntime', 'exit', 'image'] as const;

const readStep: ReadField<TimelineStep> = (value, path, issues) => {
  const down = fields('a restart', { downFor: duration });
  const read = fields(
    'a step of the timeline',
    {
      at: duration,
      deletePod: words('the name of a pod'),
      restartAgent: down,
      restartRuntime: down,
      exit: words('POD/CONTAINER or CONTAINER'),
      exitCode: EXIT_CODE,
      image: words('the name of an image'),
      ...IMAGE,
      failures: readLasting,
    },
    { required: ['at'] },
  )(value, path, issues);
  if (!read) return undefined;
  const given = EFFECTS.filter((name) => mentions(value, name));
  if (given.length !== 1) {
    const message = given.length === 0 ? 'says nothing that happens' : `says ${given.join(' and ')}`;
    issues.push(issue(path, message, `one of ${EFFECTS.join(', ')}`));
    return undefined;
  }
  return stepOf(read, given[0]!, value, path, issues);
};

interface StepFields extends ImageFields {
  readonly at?: number;
  readonly deletePod?: string;
  readonly restartAgent?: { readonly downFor?: number };
  readonly restartRuntime?: { readonly downFor?: number };
  readonly exit?: string;
  readonly exitCode?: number;
  readonly image?: string;
}

/** Fields beside the one that says what happens. */
const BESIDE: Readonly<Record<(typeof EFFECTS)[number], readonly string[]>> = {
  deletePod: [],
  restartAgent: [],
  restartRuntime: [],
  exit: ['exitCode'],
  image: ['pull', 'failures', 'error'],
};

const stepOf = (
  { at: atMs, deletePod, restartAgent, restartRuntime, exit, exitCode, image, ...imageFields }: StepFields,
  effect: (typeof EFFECTS)[number],
  value: unknown,
  path: FieldPath,
  issues: FieldIssue[],
): TimelineStep | undefined => {
  for (const name of ['exitCode', ...Object.keys(IMAGE)])
    if (mentions(value, name) && !BESIDE[effect].includes(name))
      issues.push(issue([...path, name], `does not belong to ${effect}`, listOf(BESIDE[effect])));
  if (atMs === undefined) return undefined;
  const restart = restartAgent ?? restartRuntime;
  if (deletePod !== undefined) return { atMs, kind: 'delete-pod', pod: deletePod };
  if (restart)
    return {
      atMs,
      kind: effect === 'restartAgent' ? 'restart-agent' : 'restart-runtime',
      downMs: restart.downFor ?? 1000,
    };
  if (exit !== undefined) return { atMs, kind: 'exit', container: exit, exitCode: exitCode ?? 137 };
  return image === undefined ? undefined : { atMs, kind: 'image', image, behaviour: imageOf(imageFields) };
};

const listOf = (names: readonly string[]): string =>
  names.length === 0 ? 'nothing but at beside it' : names.join(', ');

const mentions = (value: unknown, name: string): boolean =>
  isMapping(value) && value[name] !== undefined && value[name] !== null;

/** A whole document. */
export const readScenarioFields: ReadField<Scenario> = (value, path, issues) => {
  const read = fields('a scenario', {
    containers: mapOf('a mapping of POD/CONTAINER or CONTAINER to behaviours', oneOrMore(readInstance)),
    images: mapOf('a mapping of images to what pulling them does', readImage),
    node: readNode,
    timeline: oneOrMore(readStep),
  })(value, path, issues);
  return read && { containers: {}, images: {}, node: {}, timeline: [], ...read };
};
