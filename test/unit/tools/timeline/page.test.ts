import { fc, test } from '@fast-check/vitest';
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { PAGE_SCRIPT } from '../../../../src/generated/timeline-page.js';
import type { Timeline } from '../../../../src/tools/timeline/lanes.js';
import { renderPage } from '../../../../src/tools/timeline/render-page.js';
import { renderSvg } from '../../../../src/tools/timeline/render-svg.js';
import { timelineOfJournal } from '../../../../src/tools/timeline/timeline-of-journal.js';
import { arbitraryTimeline } from './arbitrary-timeline.js';
import { crashLoop, NOON } from './crash-loop.js';
import { FakePage } from './fake-document.js';

const timeline = timelineOfJournal({ entries: crashLoop, until: NOON + 70_000 });
const HOSTILE = '</script><img src=x onerror=alert(1)><!--';

interface Tag {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

const VOID = ['meta', '!doctype'];
const TAG = /<(!doctype|\/?[a-z][\w-]*)((?:\s+[\w:-]+(?:="[^"<>]*")?)*)\s*>/gy;

/** The tags of a page, read as strictly as a page of our own has to be. Errors: anything that is neither a tag nor text. */
const tagsOf = (page: string): readonly Tag[] => {
  const tags: Tag[] = [];
  const open: string[] = [];
  for (let at = page.indexOf('<'); at >= 0; at = page.indexOf('<', TAG.lastIndex)) {
    TAG.lastIndex = at;
    const [, name = '', attributes = ''] = TAG.exec(page) ?? [];
    if (name === '') throw new Error(`no tag at ${at}: ${page.slice(at, at + 60)}`);
    if (name.startsWith('/')) expect(open.pop()).toBe(name.slice(1));
    else {
      const pairs = [...attributes.matchAll(/([\w:-]+)(?:="([^"]*)")?/g)].map(([, key = '', value = '']) => [
        key,
        value,
      ]);
      tags.push({ name, attributes: Object.fromEntries(pairs) as Tag['attributes'] });
      if (!VOID.includes(name)) open.push(name);
      // What is in them is no markup, up to their end.
      if (name === 'script' || name === 'style') TAG.lastIndex = page.indexOf(`</${name}`, TAG.lastIndex);
    }
  }
  expect(open).toEqual([]);
  return tags;
};

const dataOf = (page: string): string =>
  /<script type="application\/json" id="timeline-data">([^<]*)<\/script>/.exec(page)![1]!;

describe('the page of a timeline', () => {
  it('brings all that it needs, and lets in nothing else', () => {
    const page = renderPage(timeline);
    const tags = tagsOf(page);
    expect(
      tags.flatMap(({ attributes }) =>
        [attributes.src, attributes.href].filter((to) => to !== undefined && !to.startsWith('#')),
      ),
    ).toEqual([]);
    expect(page.replace('http://www.w3.org/2000/svg', '').replace(PAGE_SCRIPT, '')).not.toMatch(
      /https?:\/\/|@import|url\(/,
    );
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(page)![1]!;
    expect(policy).toMatch(
      /^default-src 'none'; script-src '(sha256-\S+)'; style-src '(sha256-\S+)'; base-uri 'none'; form-action 'none'$/,
    );
    for (const [tag, kind] of [
      ['script', 'script-src'],
      ['style', 'style-src'],
    ] as const) {
      const text = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(page)![1]!;
      expect(policy).toContain(`${kind} 'sha256-${createHash('sha256').update(text).digest('base64')}'`);
    }
    expect(tags.filter(({ attributes }) => 'style' in attributes)).toEqual([]);
  });

  it('carries the timeline as it is, and lists what matters with links to the entries', () => {
    const page = renderPage(timeline);
    expect(JSON.parse(dataOf(page))).toEqual(timeline);
    expect(page).toContain('<a class="error" href="#e8">app ended with exit code 1</a>');
  });

  test.prop([arbitraryTimeline, fc.constantFrom(undefined, HOSTILE)], { numRuns: 50 })(
    'makes nothing but text of texts',
    (drawn, title) => {
      const page = renderPage(drawn, title === undefined ? {} : { title });
      const tags = tagsOf(page);
      expect(new Set(tags.map(({ name }) => name)).has('img')).toBe(false);
      expect(tags.filter(({ name }) => name === 'script')).toHaveLength(2);
      expect(tags.flatMap(({ attributes }) => Object.keys(attributes)).filter((name) => name.startsWith('on'))).toEqual(
        [],
      );
      expect(JSON.parse(dataOf(page))).toEqual(JSON.parse(JSON.stringify(drawn)));
      tagsOf(renderSvg(drawn, { title: HOSTILE }));
    },
  );
});

const pageOf = (drawn: Timeline, hash = ''): FakePage => new FakePage(PAGE_SCRIPT, dataOf(renderPage(drawn)), hash);
const exit = 'app ended with exit code 1';

describe('the script of the page', () => {
  it('draws every mark that matters, with words for those who do not see', () => {
    const page = pageOf(timeline);
    expect(page.root.classes).toContain('live');
    expect(page.marks(exit)).toHaveLength(3);
    expect(page.marks('app, 12:00:00.700Z: started app')).toHaveLength(1);
    expect(page.marks('folded away')).toHaveLength(3);
  });

  it('shows the entry of a mark that is clicked, and what belongs together', () => {
    const page = pageOf(timeline);
    page.click(page.marks('put off by 20 s')[0]!);
    expect(page.location.hash).toBe('#e19');
    expect(page.panel.textContent).toContain('"delayMs": 20000');
    expect(page.panel.all(({ tag }) => tag === 'a').map((link) => link.getAttribute('href'))).toEqual(['#e18']);
    const related = (relation: string): (string | null)[] =>
      page.plot.all(({ classes }) => classes.includes(relation)).map((element) => element.getAttribute('aria-label'));
    expect(related('selected')).toEqual([expect.stringContaining('put off by 20 s')]);
    expect(related('cause')).toEqual([expect.stringContaining('a sync began'), expect.stringContaining(exit)]);
    expect(page.plot.all(({ classes }) => classes.includes('link'))).toHaveLength(2);
    expect(page.plot.classes).toContain('has-selection');

    page.scroller.tell('keydown', { key: 'Escape' });
    expect(page.location.hash).toBe('');
    expect(page.plot.classes).not.toContain('has-selection');
  });

  it('shows the entry that the address names', () => {
    const page = pageOf(timeline, '#e27');
    expect(page.panel.textContent).toContain('put off by 40 s');
    page.location.hash = '#e8';
    page.window.tell('hashchange');
    expect(page.panel.textContent).toContain(exit);
    page.location.hash = '#%';
    expect(() => page.window.tell('hashchange')).not.toThrow();
  });

  it('opens a fold that is clicked, and all of them at once', () => {
    const page = pageOf(timeline);
    page.click(page.marks('folded away')[0]!);
    expect(page.marks('folded away')).toHaveLength(2);
    page.press('fold');
    expect(page.marks('folded away')).toHaveLength(3);
    page.press('fold');
    expect(page.marks('folded away')).toHaveLength(0);
    // What was folded away is drawn now.
    expect(page.marks('another check of the pod was due')).toHaveLength(1);
  });

  it('zooms with wheel, buttons and keys, and moves', () => {
    const page = pageOf(timeline);
    const length = (): string | undefined => page.scroller.childNodes[0]!.style.width;
    const whole = length();
    expect(page.scroller.tell('wheel', { deltaX: 0, deltaY: -300, clientX: 500 })).toBe(true);
    expect(parseFloat(length()!)).toBeCloseTo(2 * (parseFloat(whole!) - 18) + 18, 0);
    expect(page.scroller.tell('wheel', { deltaX: 90, deltaY: 5, clientX: 500 })).toBe(false);
    const before = page.scroller.scrollLeft;
    page.press('right');
    expect(page.scroller.scrollLeft).toBeGreaterThan(before);
    expect(page.scroller.tell('keydown', { key: '0' })).toBe(true);
    expect(length()).toBe(whole);
    expect(page.scroller.tell('keydown', { key: 'Tab' })).toBe(false);
    expect(page.scroller.tell('keydown', { key: 'f', ctrlKey: true })).toBe(false);
  });

  it('goes from mark to mark with the arrow keys', () => {
    const page = pageOf(timeline);
    page.marks('started app')[0]!.focus();
    const goes = (key: string): string | null => {
      page.scroller.tell('keydown', { key });
      return page.document.activeElement!.getAttribute('aria-label');
    };
    expect(goes('ArrowRight')).toContain('run 1');
    expect(goes('ArrowUp')).toContain('a sync began');
    expect(goes('ArrowDown')).toContain('app');
    page.scroller.tell('keydown', { key: 'Enter' });
    expect(page.location.hash).not.toBe('');
  });

  it('has one mark that the tab key reaches', () => {
    expect(pageOf(timeline).plot.all((element) => element.getAttribute('tabindex') === '0')).toHaveLength(1);
  });

  test.prop([arbitraryTimeline], { numRuns: 50 })('draws any timeline, and says what it is', (drawn) => {
    const page = pageOf(drawn);
    for (const action of ['zoom-in', 'right', 'fold', 'zoom-in', 'left', 'all']) page.press(action);
    for (const mark of page.marks().slice(0, 5)) page.click(mark);
  });
});
