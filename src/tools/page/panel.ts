import type { CauseIndex } from '../timeline/cause-links.js';
import { entryWords } from '../timeline/entry-words.js';
import { anchorOf } from '../timeline/escape-markup.js';
import type { Timeline, TimelineEntry } from '../timeline/lanes.js';
import { exactTime } from '../timeline/ticks.js';

/** Shows one journal entry: its text, its causes and effects, and its record. */
export class Panel {
  readonly #hint: readonly Node[];

  constructor(
    private readonly place: HTMLElement,
    private readonly timeline: Timeline,
    private readonly index: CauseIndex,
  ) {
    this.#hint = [...place.childNodes];
  }

  show(id: string | undefined): void {
    if (id === undefined) return this.place.replaceChildren(...this.#hint);
    const entry = this.index.entryOf(id);
    const mark = this.index.markOf(id);
    const text = mark?.text ?? entry?.text ?? 'this entry is not in the timeline';
    this.place.replaceChildren(
      element('h2', id),
      ...(entry ? [element('p', exactTime(this.timeline, entry.at).trim(), 'when')] : []),
      ...text.split('\n').map((line) => element('p', line)),
      ...this.#list('Because of', entry?.causes.map((cause) => [cause, this.index.entryOf(cause)] as const) ?? []),
      ...this.#list(
        'Led to',
        this.index.effectsOf(id).map((effect) => [effect.id, effect] as const),
      ),
      ...(entry
        ? [element('h3', entryWords(this.timeline).title), element('pre', JSON.stringify(entry.record, undefined, 2))]
        : []),
    );
  }

  #list(heading: string, entries: readonly (readonly [string, TimelineEntry | undefined])[]): readonly HTMLElement[] {
    if (entries.length === 0) return [];
    const list = document.createElement('ul');
    for (const [id, entry] of entries) {
      const link = document.createElement('a');
      link.setAttribute('href', anchorOf(id));
      link.textContent = this.index.markOf(id)?.text.split('\n', 1)[0] ?? entry?.text ?? kindOf(entry) ?? id;
      const item = document.createElement('li');
      item.append(link);
      list.append(item);
    }
    return [element('h3', heading), list];
  }
}

const kindOf = (entry: TimelineEntry | undefined): string | undefined => {
  const { kind } = (entry?.record ?? {}) as { readonly kind?: unknown };
  return typeof kind === 'string' ? kind : undefined;
};

const element = (tag: string, text: string, className = ''): HTMLElement => {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className !== '') made.className = className;
  return made;
};
