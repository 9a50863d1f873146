import type { ImageBehaviour, LatencyRange, ProbeFailure, StopBehaviour } from '../world/behaviour.js';
import {
  duration,
  eitherOf,
  fields,
  flag,
  hold,
  isMapping,
  mapOf,
  mentions,
  OF_ANY_MAPPING,
  oneOf,
  oneOrMore,
  readAs,
  requireFields,
  wholeNumber,
  words,
} from './read-field.js';
import type { HookScript, InstanceScript, NodeScript, Scenario, TimelineStep } from './scenario.js';

/** Without what is undefined. */
const given = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;

const EXIT_CODE = wholeNumber(0, 255);

const failing = fields('a time of failing probes', {
  from: duration,
  to: duration,
  probe: oneOf('startup', 'readiness', 'liveness'),
  path: words('the path of an httpGet'),
  port: wholeNumber(1, 65_535),
  how: oneOf('fails', 'refuses', 'hangs'),
})
  .superRefine(({ from, to }, context) => {
    if (to !== undefined && to <= (from ?? 0)) hold(context, ['to'], 'is not after from', 'a later time');
  })
  .transform(({ from: fromMs, to: toMs, probe: which, path, port, how }): ProbeFailure =>
    given({ fromMs, toMs, which, path, port, how }),
  );

const hook = fields('a hook', { takes: duration, exitCode: EXIT_CODE }).transform(
  ({ takes: takesMs, exitCode }): HookScript => given({ takesMs, exitCode }),
);

const instance = fields('an instance of a container', {
  startsAfter: duration,
  startError: words('an error text of the runtime'),
  readyAfter: duration,
  exitsAfter: duration,
  exitCode: EXIT_CODE,
  outOfMemory: flag,
  onStop: oneOf('exits', 'hangs'),
  stopsAfter: duration,
  stopExitCode: EXIT_CODE,
  failsProbes: oneOrMore(failing),
  probesTake: duration,
  postStart: hook,
  preStop: hook,
  writes: mapOf('a mapping of absolute paths in the container to texts', words('a text')),
  terminationMessage: words('a termination message'),
  /** The former name of `terminationMessage`. */
  lastWords: words('a termination message'),
})
  .superRefine((value, context) => {
    for (const name of ['exitCode', 'outOfMemory'])
      if (mentions(value, name) && !mentions(value, 'exitsAfter'))
        hold(context, [name], 'has no effect without exitsAfter', 'exitsAfter beside it');
    for (const name of ['stopsAfter', 'stopExitCode'])
      if (value.onStop === 'hangs' && mentions(value, name))
        hold(context, [name], 'contradicts onStop: hangs', 'one of the two');
  }, OF_ANY_MAPPING)
  .transform((read): InstanceScript =>
    given({
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
      writes: read.writes,
      terminationMessage: read.terminationMessage ?? read.lastWords,
    }),
  );

const stopOf = (
  onStop: 'exits' | 'hangs' | undefined,
  stopsAfter: number | undefined,
  exitCode: number | undefined,
): StopBehaviour | undefined => {
  if (onStop === 'hangs') return { kind: 'hangs' };
  const isSaid = onStop ?? stopsAfter ?? exitCode;
  return isSaid === undefined ? undefined : { kind: 'exits', afterMs: stopsAfter ?? 0, ...given({ exitCode }) };
};

/** A number that `accepts`, or `always`, which is infinite. */
const failures = (expected: string, accepts: (count: number) => boolean) =>
  readAs(expected, (value) => {
    if (value === 'always') return Infinity;
    return typeof value === 'number' && Number.isInteger(value) && accepts(value) ? value : undefined;
  });

const IMAGE = {
  pull: duration,
  present: flag,
  failures: failures('a number of pulls, or always', (count) => count >= 0),
  error: words('an error text of the registry'),
};

const image = fields('an image', IMAGE)
  .superRefine((value, context) => {
    if (mentions(value, 'error') && !mentions(value, 'failures'))
      hold(context, ['error'], 'has no effect without failures', 'failures beside it');
  }, OF_ANY_MAPPING)
  .transform((read) => imageOf(read));

const imageOf = ({ pull: pullMs, present: isPresent, failures = 0, error }: ImageFields): ImageBehaviour => ({
  ...given({ pullMs, isPresent }),
  ...(failures > 0 && {
    pullError: { message: error ?? 'not found', ...(Number.isFinite(failures) && { times: failures }) },
  }),
});

interface ImageFields {
  readonly pull?: number | undefined;
  readonly present?: boolean | undefined;
  /** Infinite for good. */
  readonly failures?: number | undefined;
  readonly error?: string | undefined;
}

const range = fields('a range', { from: duration, to: duration })
  .superRefine((_, context) => requireFields('a range', ['from', 'to'], context), OF_ANY_MAPPING)
  .superRefine(({ from = 0, to = Infinity }, context) => {
    if (to < from) hold(context, ['to'], 'is less than from', 'a longer duration');
  })
  .transform(({ from: min = 0, to: max = 0 }): LatencyRange => ({ min, max }));

/** A duration, or the shortest and the longest one. */
const latency = eitherOf(
  isMapping,
  range,
  duration.transform((milliseconds): LatencyRange => ({ min: milliseconds, max: milliseconds })),
);

const node = fields('the node', {
  callsTake: latency,
  sandboxesTake: latency,
  eventsTake: latency,
  noEvents: flag,
  eventedPLEG: flag,
}).transform((read): NodeScript =>
  given({
    callMs: read.callsTake,
    sandboxMs: read.sandboxesTake,
    eventMs: read.eventsTake,
    tellsNoEvents: read.noEvents,
    eventedPleg: read.eventedPLEG,
  }),
);

/** The effect of a step, by its field, with the fields that may stand beside it. */
const EFFECTS = {
  deletePod: [],
  restartAgent: [],
  restartRuntime: [],
  exit: ['exitCode'],
  image: ['pull', 'failures', 'error'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
type Effect = keyof typeof EFFECTS;
const ALL_EFFECTS = Object.keys(EFFECTS) as readonly Effect[];

const down = fields('a restart', { downFor: duration });

const step = fields('a step of the timeline', {
  at: duration,
  deletePod: words('the name of a pod'),
  restartAgent: down,
  restartRuntime: down,
  exit: words('POD/CONTAINER or CONTAINER'),
  exitCode: EXIT_CODE,
  image: words('the name of an image'),
  ...IMAGE,
  // A step of the timeline does not count pulls.
  failures: failures('0 or always', (count) => count === 0),
})
  .superRefine((value, context) => {
    requireFields('a step of the timeline', ['at'], context);
    const [effect, ...more] = ALL_EFFECTS.filter((name) => mentions(value, name));
    if (effect === undefined || more.length > 0) {
      const message = effect === undefined ? 'names no effect' : `says ${[effect, ...more].join(' and ')}`;
      return hold(context, [], message, `one of ${ALL_EFFECTS.join(', ')}`);
    }
    const beside: readonly string[] = EFFECTS[effect];
    for (const name of ['exitCode', ...Object.keys(IMAGE)])
      if (mentions(value, name) && !beside.includes(name))
        hold(context, [name], `does not belong to ${effect}`, beside.join(', ') || 'nothing but at beside it');
  }, OF_ANY_MAPPING)
  .transform(
    ({ at: atMs = 0, deletePod, restartAgent, restartRuntime, exit, exitCode, image, ...pull }): TimelineStep => {
      if (deletePod !== undefined) return { atMs, kind: 'delete-pod', pod: deletePod };
      if (restartAgent) return { atMs, kind: 'restart-agent', downMs: restartAgent.downFor ?? 1000 };
      if (restartRuntime) return { atMs, kind: 'restart-runtime', downMs: restartRuntime.downFor ?? 1000 };
      if (exit !== undefined) return { atMs, kind: 'exit', container: exit, exitCode: exitCode ?? 137 };
      return { atMs, kind: 'image', image: image ?? '', behaviour: imageOf(pull) };
    },
  );

/** A whole document. */
export const scenarioFields = fields('a scenario', {
  containers: mapOf('a mapping of POD/CONTAINER or CONTAINER to behaviours', oneOrMore(instance)),
  images: mapOf('a mapping of images to the behaviour of their pulls', image),
  node,
  timeline: oneOrMore(step),
}).transform(({ containers = {}, images = {}, node = {}, timeline = [] }): Scenario => ({
  containers,
  images,
  node,
  timeline,
}));
