// The script of the page that `rx-kubelet timeline -o html` writes: it draws the timeline from the JSON in the page.
import { type CauseIndex, causeIndex } from '../timeline/cause-links.js';
import { anchorOf } from '../timeline/escape-markup.js';
import type { Timeline } from '../timeline/lanes.js';
import { Board } from './board.js';
import { Panel } from './panel.js';

const find = <Found extends Element>(selector: string): Found => {
  const found = document.querySelector<Found>(selector);
  if (!found) throw new Error(`the page has no ${selector}`);
  return found;
};

/** The id in the address; undefined for a malformed one. */
const addressed = (): string => {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return '';
  }
};

const timeline = JSON.parse(find('#timeline-data').textContent ?? '') as Timeline;
const index: CauseIndex = causeIndex(timeline);
const panel = new Panel(find<HTMLElement>('#panel'), timeline, index);
const board = new Board(find<HTMLElement>('#board'), timeline, index, (id) => {
  // The address names the entry, so that it can be shared; the browser's back button returns to the entry before.
  if (id === undefined) history.replaceState(null, '', location.pathname + location.search);
  else if (addressed() !== id) location.hash = anchorOf(id);
  panel.show(id);
});

const showAddressed = (): void => {
  const id = addressed();
  if (id !== '') board.select(id);
};

for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-action]')) {
  button.addEventListener('click', () => board.act(button.dataset.action ?? ''));
}
window.addEventListener('hashchange', showAddressed);
document.documentElement.classList.add('live');
board.start();
showAddressed();
