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
import type { FailingProbes, ImageScript, InstanceScript, NodeScript, Scenario, TimelineStep } from './scenario.js';

const EXIT_CODE = wholeNumber(0, 255);

const readFailing: ReadField<FailingProbes> = (value, path, issues) => {
  const read = fields('a window of failing probes', {
    from: duration,
    to: duration,
    probe: oneOf('startup', 'readiness', 'liveness'),
  })(value, path, issues);
  if (!read) return undefined;
  const { from: fromMs, to: toMs, probe } = read;
  if (toMs !== undefined && toMs <= (fromMs ?? 0))
    issues.push(issue([...path, 'to'], 'is not after from', 'a later time'));
  return { fromMs, toMs, probe };
};

const INSTANCE = {
  startsAfter: duration,
  readyAfter: duration,
  exitsAfter: duration,
  exitCode: EXIT_CODE,
  onStop: oneOf('exits', 'hangs'),
  stopsAfter: duration,
  stopExitCode: EXIT_CODE,
  failsProbes: oneOrMore(readFailing),
  probesTake: duration,
  postStartTakes: duration,
  preStopTakes: duration,
  startError: words('what the runtime says'),
};

const readInstance: ReadField<InstanceScript> = (value, path, issues) => {
  const read = fields('an instance of a container', INSTANCE)(value, path, issues);
  if (!read) return undefined;
  const { startsAfter, readyAfter, exitsAfter, exitCode, onStop, stopsAfter, stopExitCode } = read;
  if (exitCode !== undefined && exitsAfter === undefined && !mentions(value, 'exitsAfter'))
    issues.push(issue([...path, 'exitCode'], 'has no effect without exitsAfter', 'exitsAfter beside it'));
  for (const name of ['stopsAfter', 'stopExitCode'] as const)
    if (onStop === 'hangs' && read[name] !== undefined)
      issues.push(issue([...path, name], 'contradicts onStop: hangs', 'one of the two'));
  return {
    startsAfterMs: startsAfter,
    readyAfterMs: readyAfter,
    exitsAfterMs: exitsAfter,
    exitCode,
    onStop,
    stopsAfterMs: stopsAfter,
    stopExitCode,
    failsProbes: read.failsProbes,
    probesTakeMs: read.probesTake,
    postStartTakesMs: read.postStartTakes,
    preStopTakesMs: read.preStopTakes,
    startError: read.startError,
  };
};

const readFailures: ReadField<number | 'always'> = (value, path, issues) => {
  if (value === 'always' || (typeof value === 'number' && Number.isInteger(value) && value >= 0)) return value;
  issues.push(issue(path, describeWrong(value), 'a number of pulls, or always'));
  return undefined;
};

const readImage: ReadField<ImageScript> = (value, path, issues) => {
  const read = fields('an image', {
    pull: duration,
    present: flag,
    failures: readFailures,
    error: words('what the registry says'),
  })(value, path, issues);
  if (!read) return undefined;
  const { pull: pullMs, present, failures, error } = read;
  if (error !== undefined && !mentions(value, 'failures'))
    issues.push(issue([...path, 'error'], 'has no effect without failures', 'failures beside it'));
  return { pullMs, present, failures, error };
};

const readNode: ReadField<NodeScript> = (value, path, issues) => {
  const read = fields('the node', { callsTake: duration, sandboxesTake: duration, eventedPLEG: flag })(
    value,
    path,
    issues,
  );
  return read && { callMs: read.callsTake, sandboxMs: read.sandboxesTake, eventedPleg: read.eventedPLEG };
};

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
      ...{ pull: duration, failures: readFailures, error: words('what the registry says') },
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
  return stepOf(read as StepFields, given[0]!, value, path, issues);
};

interface StepFields {
  readonly at?: number;
  readonly deletePod?: string;
  readonly restartAgent?: { readonly downFor?: number };
  readonly restartRuntime?: { readonly downFor?: number };
  readonly exit?: string;
  readonly exitCode?: number;
  readonly image?: string;
  readonly pull?: number;
  readonly failures?: number | 'always';
  readonly error?: string;
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
  { at: atMs, deletePod, restartAgent, restartRuntime, exit, exitCode, image, pull, failures, error }: StepFields,
  effect: (typeof EFFECTS)[number],
  value: unknown,
  path: FieldPath,
  issues: FieldIssue[],
): TimelineStep | undefined => {
  for (const name of ['exitCode', 'pull', 'failures', 'error'])
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
  return image === undefined ? undefined : { atMs, kind: 'image', image, script: { pullMs: pull, failures, error } };
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
