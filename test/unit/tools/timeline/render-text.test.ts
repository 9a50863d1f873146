import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { axisOf } from '../../../../src/tools/timeline/axis.js';
import { compactDuration } from '../../../../src/tools/timeline/compact-duration.js';
import { textWidth } from '../../../../src/tools/timeline/fit-text.js';
import { chooseFolds } from '../../../../src/tools/timeline/fold.js';
import { endOf, isNotable, marksOf, severityRank, type Timeline } from '../../../../src/tools/timeline/lanes.js';
import { renderText } from '../../../../src/tools/timeline/render-text.js';
import { columnAt, laneCells, withBreaks } from '../../../../src/tools/timeline/text-cells.js';
import { timelineOfJournal } from '../../../../src/tools/timeline/timeline-of-journal.js';
import { arbitraryTimeline } from './arbitrary-timeline.js';
import { crashLoop, NOON } from './crash-loop.js';

const timeline = timelineOfJournal({ entries: crashLoop, until: NOON + 70_000 });
const picture = (lines: readonly string[]): string => `\n${lines.join('\n')}\n`;

describe('a timeline as text', () => {
  it('draws a crash loop: each run and each back-off, with the waiting folded', () => {
    expect(picture(renderText(timeline, { width: 100 }))).toBe(`
web_default on n
2026-01-01T12:00:00.500Z to 2026-01-01T12:01:10.000Z, 1m10s

 UTC    12:00:00              12:00:11                12:00:33   12:00:34     12:00:35     12:00:36
        ┬────────────────┈10s┈┬──────────────────┈20s┈┬──────────┬────────────┬────────────┬─┈34s┈──
 config ◆
 worker  ▓              ╌╌╌╌╌╌    ▓             ╌╌╌╌╌╌                        ▓             ╌╌╌╌╌╌╌
 app     ┄●━running━━━━━✗┄┄┄┄┄┄┄┄┄╼●━run 2━━━━━━✗┄┄┄┄┄┄waiting┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄╼●━run 3━━━━━━✗┄┄┄┄┄┄
 status ─────Running───────────────────────────────────────────────────────────────────────────────
 calls   ▬                        ▬                                           ▬

◆ change   ▓ sync   ╌ back-off   · tick   ┄ waiting   ╼ created   ● start   ━ running
✗ exit with an error   ─ phase   ▬ call
folded away: 1m4s, 1 idle sync, 1 timer firing

12:00:00.500Z  ◆  config  the pod was added by the source file                                   e2
12:00:00.510Z  ─  status  the phase became Pending, for 290ms                                    e3
12:00:00.700Z  ●  app     started app                                                            e6
12:00:00.800Z  ─  status  the phase became Running                                               e12
12:00:01.700Z  ✗  app     app ended with exit code 1                                             e8
12:00:01.715Z  ╌  worker  the restart of app was put off by 10 s: step 1 of 6                    e10
12:00:12.100Z  ●  app     started app, the 2nd time                                              e15
12:00:13.100Z  ✗  app     app ended with exit code 1                                             e17
12:00:13.115Z  ╌  worker  the restart of app was put off by 20 s: step 2 of 6                    e19
12:00:35.100Z  ●  app     started app, the 3rd time                                              e23
12:00:36.100Z  ✗  app     app ended with exit code 1                                             e25
12:00:36.115Z  ╌  worker  the restart of app was put off by 40 s: step 3 of 6                    e27
`);
  });

  it('draws it with ASCII characters in a narrow window, and lists the newest marks', () => {
    expect(picture(renderText(timeline, { width: 60, charset: 'ascii', listed: 3 }))).toBe(`
web_default on n
2026-01-01T12:00:00.500Z to 2026-01-01T12:01:10.000Z, 1m10s

 UTC    12:00:00     12:00:11       12:00:33
        +-------:10s:+---------:20s:+----------------:34s:--
 config *
 worker #      ~~~~~~  #      ~~~~~~          #     ~~~~~~~
 app    .o=====x.......o======x......waiting..-o====x......
 status --------------Running------------------------------
 calls  =              =                      =

* change   # sync   ~ back-off   ' tick   . waiting
- created or phase   o start   = running or call
x exit with an error
folded away: 1m4s, 1 idle sync, 1 timer firing

(9 earlier ones)
12:00:35.100Z  o  app     started app, the 3rd time      e23
12:00:36.100Z  x  app     app ended with exit code 1     e25
12:00:36.115Z  ~  worker  the restart of app was put o~  e27
`);
  });

  it('draws it to scale when nothing is to be folded', () => {
    expect(picture(renderText(timeline, { width: 72, isFolded: false, listed: 0 }))).toBe(`
web_default on n
2026-01-01T12:00:00.500Z to 2026-01-01T12:01:10.000Z, 1m10s

 UTC    12:00:00     12:00:15      12:00:30     12:00:45      12:01:00
        ┬────────────┬─────────────┬────────────┬─────────────┬─────────
 config ◆
 worker ▓╌╌╌╌╌╌╌╌╌▓╌back-off 20s╌╌╌╌╌╌ ▓╌back-off 40s╌╌╌╌╌▓╌╌╌╌╌╌╌╌╌╌╌╌╌
 app    ●✗┄┄┄┄┄┄┄┄●✗┄waiting┄┄┄┄┄┄┄┄┄┄┄●✗┄waiting┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
 status ─Running────────────────────────────────────────────────────────
 calls  ▬         ▬                    ▬

◆ change   ▓ sync   ╌ back-off   · tick   ┄ waiting   ╼ created
● start   ━ running   ✗ exit with an error   ─ phase   ▬ call
`);
  });

  it('colours what matters as a whole and leaves blanks alone', () => {
    const painted = renderText(timeline, { width: 100, paint: (text, style) => `<${style}:${text}>` });
    const lane = painted.find((line) => line.includes('name: app'));
    expect(lane).toContain('<error:✗>');
    expect(lane).toContain('<good:●>');
    expect(painted.join('\n')).not.toMatch(/<\w+: *>/);
  });
});

const room = (columns: number) => ({
  columns,
  foldColumns: (ms: number) => compactDuration(ms).length + 2,
  leastColumns: 2,
});
const axisFor = (drawn: Timeline, columns: number) => axisOf(drawn, chooseFolds(drawn, room(columns)), room(columns));

describe('any timeline', () => {
  test.prop([arbitraryTimeline, fc.integer({ min: 20, max: 200 }), fc.boolean()])(
    'no line is wider than the terminal, or controls it',
    (drawn, width, isFolded) => {
      for (const line of renderText(drawn, { width, isFolded })) {
        expect(textWidth(line)).toBeLessThanOrEqual(width);
        expect(line).not.toMatch(/[^\P{C}\ufffd]/u);
      }
    },
  );

  test.prop([arbitraryTimeline, fc.integer({ min: 20, max: 200 })])(
    'nothing that matters begins or ends inside of a fold',
    (drawn, columns) => {
      const folds = chooseFolds(drawn, room(columns));
      for (const mark of marksOf(drawn).filter((one) => isNotable(one))) {
        for (const at of mark.isOpen ? [mark.at] : [mark.at, endOf(mark)]) {
          expect(folds.filter(({ from, until }) => at > from && at < until)).toEqual([]);
        }
      }
    },
  );

  test.prop([arbitraryTimeline, fc.integer({ min: 20, max: 200 })])(
    'what matters is seen at its column, or something there that matters as much',
    (drawn, columns) => {
      const axis = axisFor(drawn, columns);
      for (const { lanes } of drawn.pods) {
        for (const { marks } of lanes) {
          const cells = laneCells(marks, axis, [{ start: 0, end: axis.columns }], 'unicode');
          const shown = withBreaks(cells, drawn.breaks, axis, 'unicode');
          for (const mark of marks.filter((one) => isNotable(one))) {
            const cell = shown[columnAt(axis, mark.at)];
            expect(cell?.mark && severityRank(cell.mark)).toBeGreaterThanOrEqual(severityRank(mark));
          }
        }
      }
    },
  );

  test.prop([arbitraryTimeline])('every mark that matters is listed with its entry', (drawn) => {
    const lines = renderText(drawn, { width: 200, listed: 1000 });
    for (const { entry } of marksOf(drawn).filter((one) => isNotable(one))) {
      expect(lines.some((line) => line.endsWith(`${entry}`))).toBe(true);
    }
  });
});
