import { PAGE_SCRIPT, PAGE_SCRIPT_HASH, PAGE_STYLE, PAGE_STYLE_HASH } from '../../generated/timeline-page.js';
import { fullName } from '../why/find-pod.js';
import { compactDuration } from './compact-duration.js';
import { entryWords } from './entry-words.js';
import { anchorOf, escapeMarkup, scriptJson } from './escape-markup.js';
import { isNotable, type Mark, type Timeline } from './lanes.js';
import { renderSvg } from './render-svg.js';
import { exactTime } from './ticks.js';

export interface PageOptions {
  /** The title of the page; the names of the pods by default. */
  readonly title?: string;
}

/**
 * Renders the timeline as one self-contained HTML page: lanes to zoom and move, marks to point at and choose, each with
 * its journal entry and its causes. The address `#<journal id>` of the page shows an entry. Texts of the timeline are
 * escaped, and the page's own policy allows no other script or style.
 */
export const renderPage = (timeline: Timeline, options: PageOptions = {}): string => {
  const names = [...new Set(timeline.pods.map(({ ref }) => fullName(ref)))].join(', ');
  const { title = names } = options;
  const { title: entryTitle, hint } = entryWords(timeline);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '${PAGE_SCRIPT_HASH}'; style-src '${PAGE_STYLE_HASH}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeMarkup(title)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<header>
<h1>${escapeMarkup(title)}</h1>
<p class="about">${escapeMarkup(aboutText(timeline))}</p>
</header>
<div id="tools" role="toolbar" aria-label="view" aria-controls="board">
${TOOLS.map(({ action, label, keys }) => `<button type="button" data-action="${action}">${label} <kbd>${keys}</kbd></button>`).join('\n')}
</div>
<main>
<div id="board">
${renderSvg(timeline, { title: `the lanes of ${title}`, hasStyle: false })}</div>
<div id="below">
<section aria-labelledby="marks-heading">
<h2 id="marks-heading">What mattered</h2>
<ol id="marks">
${notedItems(timeline).join('\n')}
</ol>
</section>
<aside id="panel" aria-live="polite" aria-label="${entryTitle}">
<h2>${entryTitle}</h2>
<p>${hint}</p>
</aside>
</div>
</main>
<script type="application/json" id="timeline-data">${scriptJson(timeline)}</script>
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`;
};

const TOOLS = [
  { action: 'zoom-in', label: 'Zoom in', keys: '+' },
  { action: 'zoom-out', label: 'Zoom out', keys: '-' },
  { action: 'left', label: 'Left', keys: '←' },
  { action: 'right', label: 'Right', keys: '→' },
  { action: 'all', label: 'Show all', keys: '0' },
  { action: 'fold', label: 'Fold', keys: 'f' },
] as const;

const aboutText = ({ from, until, clock, node }: Timeline): string => {
  const where = node === undefined ? '' : `on ${node}, `;
  const duration = compactDuration(until - from);
  if (clock === 'since-start') return `${where}${duration}`;
  return `${where}${new Date(from).toISOString()} to ${new Date(until).toISOString()}, ${duration}`;
};

const notedItems = (timeline: Timeline): readonly string[] =>
  [
    ...timeline.breaks.map((mark) => ({ name: 'node', mark })),
    ...timeline.pods.flatMap(({ lanes }) => lanes.flatMap(({ name, marks }) => marks.map((mark) => ({ name, mark })))),
  ]
    .filter(({ mark }) => isNotable(mark))
    .toSorted((one, other) => one.mark.at - other.mark.at)
    .map(({ name, mark }) => {
      const time = escapeMarkup(exactTime(timeline, mark.at).trim());
      return `<li><time>${time}</time><span class="lane">${escapeMarkup(name)}</span>${notedText(mark)}</li>`;
    });

const notedText = ({ text, entry, severity }: Mark): string => {
  const line = escapeMarkup(text.split('\n', 1)[0] ?? '');
  if (entry === undefined) return `<span class="${severity}">${line}</span>`;
  return `<a class="${severity}" href="${escapeMarkup(anchorOf(entry))}">${line}</a>`;
};
