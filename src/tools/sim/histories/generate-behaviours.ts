import type { PodManifest } from '../../../model/manifest/pod-manifest.js';
import { isSidecar } from '../../../model/pod/pod.js';
import type {
  CommandBehaviour,
  ContainerBehaviour,
  ImageBehaviour,
  InstanceBehaviour,
  ProbeFailure,
} from '../world/behaviour.js';
import type { SeededRandom } from '../world/seeded-random.js';
import { IMAGES, RULED_EXIT_CODE } from './generate-pod.js';
import { weighted } from './weighted.js';

/** The behaviour of each container of a pod, by `<pod>/<container>`. */
export const generateBehaviours = (
  draw: SeededRandom,
  { metadata: { name }, spec }: PodManifest,
): Readonly<Record<string, ContainerBehaviour>> =>
  Object.fromEntries(
    [
      ...(spec.initContainers ?? []).map((container) => ({
        container,
        behave: isSidecar(container) ? server(draw) : toTheEnd(draw),
      })),
      ...spec.containers.map((container) => ({
        container,
        behave: spec.restartPolicy === 'Always' || draw.chance(0.5) ? server(draw) : toTheEnd(draw),
      })),
    ].map(({ container, behave }) => [`${name}/${container.name}`, behave] as const),
  );

/** A container that runs on. */
const server = (draw: SeededRandom): ContainerBehaviour => {
  const steady = running(draw);
  return weighted<() => ContainerBehaviour>(draw, [
    [6, () => [steady]],
    // A crash loop, steady or of changing speed.
    [2, () => [ending(draw, false)]],
    [2, () => [...Array.from({ length: draw.integer(1, 4) }, () => ending(draw, draw.chance(0.2))), steady]],
    [1, () => [{ startError: 'exec format error', startsAfterMs: draw.integer(0, 500) }, steady]],
    [1, () => [{ ...steady, probeFailures: sickness(draw) }, steady]],
    [1, () => [{ ...steady, probeFailures: sickness(draw) }]],
    [0.5, () => [{ ...steady, exitsAfterMs: draw.integer(1_000, 60_000), outOfMemory: true }]],
  ])();
};

/** A container that ends by itself. */
const toTheEnd = (draw: SeededRandom): ContainerBehaviour =>
  weighted<() => ContainerBehaviour>(draw, [
    [6, () => [ending(draw, true)]],
    [3, () => [...Array.from({ length: draw.integer(1, 3) }, () => ending(draw, false)), ending(draw, true)]],
    [1, () => [ending(draw, false)]],
    [1, () => [{ startError: 'no such file or directory' }, ending(draw, true)]],
    [0.5, () => [running(draw)]],
  ])();

const running = (draw: SeededRandom): InstanceBehaviour => ({
  ...(draw.chance(0.2) && { startsAfterMs: draw.integer(1, 5_000) }),
  ...(draw.chance(0.6) && { readyAfterMs: draw.chance(0.8) ? draw.integer(0, 8_000) : draw.integer(8_000, 40_000) }),
  ...(draw.chance(0.1) && { answersAfterMs: draw.integer(1, 2_000) }),
  ...stopping(draw),
  ...commands(draw),
});

const ending = (draw: SeededRandom, isGood: boolean): InstanceBehaviour => ({
  ...(draw.chance(0.1) && { startsAfterMs: draw.integer(1, 2_000) }),
  exitsAfterMs: weighted<() => number>(draw, [
    [1, () => 0],
    [3, () => draw.integer(1, 1_000)],
    [3, () => draw.integer(1_000, 15_000)],
    [1, () => draw.integer(15_000, 60_000)],
  ])(),
  exitCode: isGood ? 0 : draw.pick([1, 1, 2, 137, RULED_EXIT_CODE, RULED_EXIT_CODE]),
  ...(draw.chance(0.2) && { terminationMessage: 'out of ideas' }),
  ...stopping(draw),
  ...commands(draw),
});

const stopping = (draw: SeededRandom): Pick<InstanceBehaviour, 'onStop'> =>
  weighted<() => Pick<InstanceBehaviour, 'onStop'>>(draw, [
    [5, () => ({})],
    [2, () => ({ onStop: { kind: 'exits', afterMs: draw.integer(1, 3_000), exitCode: draw.pick([0, 1, 143]) } })],
    [1, () => ({ onStop: { kind: 'exits', afterMs: draw.integer(3_000, 40_000) } })],
    [2, () => ({ onStop: { kind: 'hangs' } })],
  ])();

const commands = (draw: SeededRandom): Pick<InstanceBehaviour, 'commands'> =>
  draw.chance(0.4) ? { commands: [command(draw, 'pre-stop', 12_000), command(draw, 'post-start', 6_000)] } : {};

const command = (draw: SeededRandom, contains: string, longestMs: number): CommandBehaviour => ({
  contains,
  takesMs: draw.integer(0, longestMs),
  exitCode: draw.chance(0.2) ? 1 : 0,
});

const sickness = (draw: SeededRandom): readonly ProbeFailure[] =>
  Array.from({ length: draw.integer(1, 3) }, () => {
    const fromMs = draw.integer(0, 60_000);
    return {
      fromMs,
      ...(draw.chance(0.8) && { toMs: fromMs + draw.integer(500, 60_000) }),
      ...(draw.chance(0.5) && { which: draw.pick(['startup', 'readiness', 'liveness'] as const) }),
      ...(draw.chance(0.5) && { how: draw.pick(['fails', 'refuses', 'hangs'] as const) }),
    };
  });

/** The behaviour of the images' pulls. */
export const generateImages = (draw: SeededRandom): Readonly<Record<string, ImageBehaviour>> =>
  Object.fromEntries(
    IMAGES.map((image) => [
      image,
      {
        ...(draw.chance(0.5) && { isPresent: true }),
        pullMs: draw.chance(0.8) ? draw.integer(10, 3_000) : draw.integer(3_000, 40_000),
        ...(draw.chance(0.15) && {
          pullError: {
            message: 'manifest unknown',
            ...(draw.chance(0.8) && { times: draw.integer(1, 4) }),
          },
        }),
      },
    ]),
  );
