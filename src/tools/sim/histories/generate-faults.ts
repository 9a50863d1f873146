import type { CriErrorCode } from '../../../model/cri/cri-error.js';
import type { Fault, Stretch } from '../faults/fault.js';
import type { SeededRandom } from '../world/seeded-random.js';
import { weighted } from './weighted.js';

interface FaultSketch {
  readonly horizonMs: number;
  readonly sources: readonly string[];
}

type MakeFaults = (draw: SeededRandom, sketch: FaultSketch) => readonly Fault[];

/** Generates the faults of a history: none, one, or several at a time. */
export const generateFaults = (draw: SeededRandom, sketch: FaultSketch): readonly Fault[] => {
  const count = weighted(draw, [
    [2, 0],
    [4, 1],
    [5, 2],
    [4, 3],
    [2, 5],
  ] as const);
  return Array.from({ length: count }, () => weighted(draw, KINDS)(draw, sketch)).flat();
};

const CODES: readonly CriErrorCode[] = [
  ...([
    'unavailable',
    'unknown',
    'internal',
    'deadline-exceeded',
    'resource-exhausted',
    'aborted',
    'cancelled',
  ] as const),
];

const READS = ['ListPodSandbox', 'ListContainers', 'PodSandboxStatus', 'ContainerStatus', 'ImageStatus', 'Status'];
const DEEDS = [
  ...['RunPodSandbox', 'StopPodSandbox', 'RemovePodSandbox'],
  ...['CreateContainer', 'StartContainer', 'StopContainer', 'RemoveContainer', 'PullImage', 'ExecSync'],
];

const stretch = (draw: SeededRandom, { horizonMs }: FaultSketch, longestMs = horizonMs): Stretch => {
  const fromMs = draw.chance(0.3) ? 0 : draw.integer(0, Math.floor(horizonMs * 0.8));
  return { fromMs, untilMs: Math.min(horizonMs, fromMs + draw.integer(500, longestMs)) };
};

/** All calls, one kind of them, or a single one. */
const calls = (draw: SeededRandom): { readonly calls?: readonly string[] } =>
  weighted<() => { readonly calls?: readonly string[] }>(draw, [
    [3, () => ({})],
    [2, () => ({ calls: READS })],
    [2, () => ({ calls: DEEDS })],
    [4, () => ({ calls: [draw.pick([...READS, ...DEEDS, ...DEEDS])] })],
  ])();

const rate = (draw: SeededRandom): number => draw.pick([0.02, 0.1, 0.3, 0.6]);

const late =
  (kind: 'late-request' | 'late-reply'): MakeFaults =>
  (draw, sketch) => {
    const maxMs = draw.chance(0.7) ? draw.integer(5, 500) : draw.integer(500, 8_000);
    return [{ kind, ...stretch(draw, sketch), ...calls(draw), rate: rate(draw), minMs: 1, maxMs }];
  };

const atAnyTime = (draw: SeededRandom, { horizonMs }: FaultSketch): number => draw.integer(1, horizonMs);

const KINDS: readonly (readonly [number, MakeFaults])[] = [
  [2, late('late-request')],
  [3, late('late-reply')],
  [
    3,
    (draw, sketch) => [
      { kind: 'refused', ...stretch(draw, sketch), ...calls(draw), rate: rate(draw), code: draw.pick(CODES) },
    ],
  ],
  [
    3,
    (draw, sketch) => [
      { kind: 'reply-lost', ...stretch(draw, sketch), ...calls(draw), rate: rate(draw), code: draw.pick(CODES) },
    ],
  ],
  [
    0.7,
    (draw, sketch) => [
      {
        kind: 'hangs',
        ...stretch(draw, sketch, 30_000),
        ...calls(draw),
        rate: draw.pick([0.01, 0.05, 0.2]),
        isDone: draw.chance(0.5),
      },
    ],
  ],
  [1, (draw, sketch) => [{ kind: 'cancel-unheard', ...stretch(draw, sketch), ...calls(draw), rate: rate(draw) }]],
  [2, (draw, sketch) => [{ kind: 'event-lost', ...stretch(draw, sketch), rate: rate(draw) }]],
  [1, (draw, sketch) => [{ kind: 'event-doubled', ...stretch(draw, sketch), rate: rate(draw) }]],
  [
    2,
    (draw, sketch) => [
      { kind: 'event-late', ...stretch(draw, sketch), rate: rate(draw), maxMs: draw.integer(5, 5_000) },
    ],
  ],
  [
    1,
    (draw, sketch) =>
      Array.from({ length: draw.integer(1, 4) }, () => ({ kind: 'events-break', atMs: atAnyTime(draw, sketch) })),
  ],
  [
    1,
    (draw, sketch) => [
      {
        kind: 'disk-fails',
        ...stretch(draw, sketch, 60_000),
        rate: rate(draw),
        code: draw.pick(['EIO', 'ENOSPC', 'EROFS'] as const),
      },
    ],
  ],
  [
    1,
    (draw, sketch) => [
      { kind: 'network-slow', ...stretch(draw, sketch), rate: rate(draw), minMs: 1, maxMs: draw.integer(10, 6_000) },
    ],
  ],
  [0.7, (draw, sketch) => [{ kind: 'network-silent', ...stretch(draw, sketch, 30_000), rate: rate(draw) }]],
  [
    1,
    (draw, sketch) =>
      Array.from({ length: draw.integer(1, 3) }, () => ({
        kind: draw.pick(['source-breaks', 'source-repeats'] as const),
        source: draw.pick(sketch.sources),
        atMs: atAnyTime(draw, sketch),
      })),
  ],
  [
    1,
    (draw, sketch) => [
      {
        kind: 'source-late',
        source: draw.pick(sketch.sources),
        ...stretch(draw, sketch),
        lateMs: draw.integer(1, 15_000),
      },
      agentKilled(draw, sketch),
    ],
  ],
  [3, (draw, sketch) => Array.from({ length: draw.integer(1, 3) }, () => agentKilled(draw, sketch))],
  [
    2,
    (draw, sketch) =>
      Array.from({ length: draw.integer(1, 2) }, () => ({
        kind: 'runtime-restarts',
        atMs: atAnyTime(draw, sketch),
        downMs: draw.chance(0.7) ? draw.integer(1, 5_000) : draw.integer(5_000, 60_000),
      })),
  ],
  [
    1,
    (draw, sketch) =>
      Array.from({ length: draw.integer(1, 3) }, () => ({
        kind: draw.pick(['container-dies', 'container-dies', 'sandbox-dies'] as const),
        atMs: atAnyTime(draw, sketch),
        which: draw.integer(0, 7),
      })),
  ],
  [
    0.7,
    (draw, sketch) => [
      {
        kind: 'clock-jumps',
        atMs: atAnyTime(draw, sketch),
        byMs: draw.pick([-1, 1]) * draw.pick([1_000, 30_000, 600_000, 3_600_000]) + draw.integer(-500, 500),
      },
    ],
  ],
];

/** Most kills come at busy times: early, and in the middle of a call. */
const agentKilled = (draw: SeededRandom, sketch: FaultSketch): Fault => {
  const downMs = draw.chance(0.6) ? draw.integer(0, 2_000) : draw.integer(2_000, 40_000);
  if (draw.chance(0.4)) return { kind: 'agent-killed', atMs: atAnyTime(draw, sketch), downMs };
  const atStep = draw.chance(0.6) ? draw.integer(1, 150) : draw.integer(150, 1_500);
  return { kind: 'agent-killed', atStep, when: draw.pick(['asked', 'answered']), downMs };
};
