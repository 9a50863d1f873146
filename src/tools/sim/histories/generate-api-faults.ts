import type { Fault, Stretch } from '../faults/fault.js';
import type { SeededRandom } from '../world/seeded-random.js';
import { weighted } from './weighted.js';

type MakeFaults = (draw: SeededRandom, horizonMs: number) => readonly Fault[];

/** Generates faults between a node and its API server: none, one, or several at a time. */
export const generateApiFaults = (draw: SeededRandom, horizonMs: number): readonly Fault[] => {
  const count = weighted(draw, [
    [2, 0],
    [4, 1],
    [4, 2],
    [2, 4],
  ] as const);
  return Array.from({ length: count }, () => weighted(draw, KINDS)(draw, horizonMs)).flat();
};

const stretch = (draw: SeededRandom, horizonMs: number, longestMs = horizonMs): Stretch => {
  const fromMs = draw.chance(0.3) ? 0 : draw.integer(0, Math.floor(horizonMs * 0.8));
  return { fromMs, untilMs: Math.min(horizonMs, fromMs + draw.integer(500, longestMs)) };
};

const rate = (draw: SeededRandom): number => draw.pick([0.02, 0.1, 0.3, 0.6, 1]);
const atAnyTime = (draw: SeededRandom, horizonMs: number): number => draw.integer(1, horizonMs);
const how = (draw: SeededRandom): 'reset' | 'silent' => (draw.chance(0.6) ? 'reset' : 'silent');

const KINDS: readonly (readonly [number, MakeFaults])[] = [
  [
    3,
    (draw, horizonMs) => [
      {
        kind: 'api-late',
        ...stretch(draw, horizonMs),
        rate: rate(draw),
        minMs: 1,
        maxMs: draw.chance(0.7) ? draw.integer(5, 500) : draw.integer(500, 8_000),
      },
    ],
  ],
  [
    3,
    (draw, horizonMs) => [
      {
        kind: 'api-refused',
        ...stretch(draw, horizonMs),
        rate: rate(draw),
        ...weighted<{ readonly code: number; readonly retryAfterSeconds?: number }>(draw, [
          [3, { code: 500 }],
          [2, { code: 503 }],
          [1, { code: 503, retryAfterSeconds: 2 }],
          [2, { code: 429, retryAfterSeconds: 1 }],
          [1, { code: 504 }],
          [2, { code: 401 }],
        ]),
      },
    ],
  ],
  [3, (draw, horizonMs) => [{ kind: 'api-reply-lost', ...stretch(draw, horizonMs), rate: rate(draw) }]],
  [
    1,
    (draw, horizonMs) => [
      { kind: 'api-silent', ...stretch(draw, horizonMs, 40_000), rate: rate(draw), isDone: draw.chance(0.5) },
    ],
  ],
  [1, (draw, horizonMs) => [{ kind: 'api-gone', ...stretch(draw, horizonMs), rate: rate(draw) }]],
  [3, (draw, horizonMs) => [{ kind: 'api-cut', ...stretch(draw, horizonMs), how: how(draw) }]],
  [
    2,
    (draw, horizonMs) =>
      Array.from({ length: draw.integer(1, 4) }, () => ({
        kind: 'api-watches-break',
        atMs: atAnyTime(draw, horizonMs),
        how: how(draw),
      })),
  ],
  [
    3,
    (draw, horizonMs) =>
      Array.from({ length: draw.integer(1, 3) }, () => ({
        kind: 'api-restarts',
        atMs: atAnyTime(draw, horizonMs),
        downMs: draw.chance(0.6) ? draw.integer(1, 5_000) : draw.integer(5_000, 60_000),
      })),
  ],
  [
    1,
    (draw, horizonMs) =>
      Array.from({ length: draw.integer(1, 3) }, () => ({ kind: 'api-forgets', atMs: atAnyTime(draw, horizonMs) })),
  ],
  [
    4,
    (draw, horizonMs) =>
      Array.from({ length: draw.integer(1, 3) }, () => ({
        kind: 'agent-killed',
        downMs: draw.chance(0.6) ? draw.integer(0, 2_000) : draw.integer(2_000, 40_000),
        ...(draw.chance(0.5)
          ? { atMs: atAnyTime(draw, horizonMs) }
          : { atStep: draw.integer(1, 400), when: draw.pick(['asked', 'answered'] as const) }),
      })),
  ],
];
