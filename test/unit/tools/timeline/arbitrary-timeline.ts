import fc from 'fast-check';
import type { InstantLook, Lane, Mark, SpanLook, Timeline } from '../../../../src/tools/timeline/lanes.js';
import { INSTANT_LOOKS, SPAN_LOOKS } from '../../../../src/tools/timeline/looks.js';

const UNTIL = 100_000_000;

/** Texts as the outside world may send them. */
const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    '</script><img src=x onerror=alert(1)>',
    '"><svg onload=alert(1)>',
    '\u001b[31mred\u001b[0m\r\n',
    '日本語のメッセージ',
    '\u202eevil',
    '<!--',
    "'&amp;",
  ),
);

/** Clustered, as what happens is: whole seconds here and there, and milliseconds around them. */
const instant = fc
  .tuple(fc.nat({ max: 12 }), fc.nat({ max: 3 }), fc.nat({ max: 900 }))
  .map(([cluster, second, ms]) => Math.min(UNTIL, cluster ** 6 * 30 + second * 1000 + ms));

const mark = (id: string): fc.Arbitrary<Mark> =>
  fc
    .record({
      at: instant,
      lasts: fc.option(fc.oneof(fc.nat({ max: 5000 }), fc.nat({ max: UNTIL })), { nil: undefined }),
      isOpen: fc.boolean(),
      spanLook: fc.constantFrom(...(Object.keys(SPAN_LOOKS) as SpanLook[])),
      instantLook: fc.constantFrom(...(Object.keys(INSTANT_LOOKS) as InstantLook[])),
      severity: fc.constantFrom<Mark['severity']>('quiet', 'quiet', 'note', 'good', 'warning', 'error'),
      isRoutine: fc.boolean(),
      label: hostile,
      text: hostile,
      causes: fc.array(hostile, { maxLength: 2 }),
    })
    .map(({ at, lasts, isOpen, spanLook, instantLook, severity, isRoutine, ...rest }): Mark => {
      const until = lasts === undefined ? undefined : Math.min(UNTIL, at + lasts);
      return {
        ...{ id, at, severity, entry: `entry-${id}` },
        ...rest,
        look: until === undefined ? instantLook : spanLook,
        ...(until === undefined ? {} : isOpen ? { until: UNTIL, isOpen } : { until }),
        ...(isRoutine && severity === 'quiet' ? { routine: 'relist' } : {}),
      };
    });

const lane = (pod: number, index: number): fc.Arbitrary<Lane> =>
  fc
    .nat({ max: 12 })
    .chain((count) => fc.tuple(...Array.from({ length: count }, (_, at) => mark(`${pod}.${index}.${at}`))))
    .chain((marks) =>
      fc.record({
        kind: fc.constantFrom<Lane['kind']>('config', 'worker', 'runtime', 'calls'),
        name: hostile.map((name) => `${name}${index}`),
        marks: fc.constant((marks as readonly Mark[]).toSorted((one, other) => one.at - other.at)),
      }),
    );

/** Any timeline that could be drawn, with any texts. */
export const arbitraryTimeline: fc.Arbitrary<Timeline> = fc
  .tuple(
    fc.nat({ max: 2 }).chain((pods) =>
      fc.tuple(
        ...Array.from({ length: pods + 1 }, (_, pod) =>
          fc.record({
            ref: fc.record({ uid: fc.constant(`u${pod}`), namespace: hostile, name: hostile }),
            lanes: fc.tuple(lane(pod, 0), lane(pod, 1), lane(pod, 2)),
          }),
        ),
      ),
    ),
    fc.constantFrom<Timeline['clock']>('time-of-day', 'since-start'),
    fc.array(
      fc.nat({ max: 99 }).chain((id) => mark(`break.${id}`)),
      { maxLength: 2 },
    ),
  )
  .map(([pods, clock, breaks]) => ({
    ...{ from: 0, until: UNTIL, clock, pods },
    breaks: breaks.filter((one, index) => breaks.findIndex(({ id }) => id === one.id) === index),
    entries: pods.flatMap(({ lanes }) =>
      lanes.flatMap(({ marks }) =>
        marks.map(({ id, at, text, causes }) => ({ id: `entry-${id}`, at, text, causes, record: { id, text } })),
      ),
    ),
  }));
