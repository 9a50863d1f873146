import type { CauseIndex } from '../timeline/cause-links.js';
import { drawLinks } from '../timeline/draw-links.js';
import {
  drawNames,
  drawPlot,
  heightOf,
  MARGIN,
  namesWidth,
  type Row,
  rowsOf,
  type Shape,
} from '../timeline/drawing.js';
import { isNotable, type Mark, type Timeline } from '../timeline/lanes.js';
import { nextMark } from '../timeline/next-mark.js';
import {
  axisOfView,
  centredView,
  foldedView,
  isInView,
  openedView,
  type PageView,
  pannedView,
  resizedView,
  wholeView,
  zoomedView,
} from '../timeline/page-view.js';
import { svgElement, svgPicture } from './svg-element.js';
import { Tip } from './tip.js';

const ZOOM_STEP = 1.5;
/** The part of the window that one step moves it. */
const PAN_STEP = 0.25;
/** The pixels that a pointer may move during a click. */
const STEADY = 4;

/**
 * The lanes: zoomed by wheel, buttons and keys, moved by dragging, scrolling and keys, marks chosen by pointer and
 * keys.
 */
export class Board {
  readonly #rows: readonly Row[];
  readonly #names = svgPicture('names');
  readonly #plot = svgPicture('plot');
  readonly #scroller = document.createElement('div');
  readonly #length = document.createElement('div');
  readonly #tip: Tip;
  #view: PageView;
  #selected: Mark | undefined;
  #focused: Mark | undefined;
  #isDue = false;
  #marks = new Map<Element, Shape>();

  constructor(
    private readonly place: HTMLElement,
    private readonly timeline: Timeline,
    private readonly index: CauseIndex,
    /** Called with the entry of the chosen mark, or with undefined. */
    private readonly chosen: (id: string | undefined) => void,
  ) {
    this.#rows = rowsOf(timeline);
    this.#tip = new Tip();
    this.#view = wholeView(800);
  }

  start(): void {
    const width = namesWidth(this.#rows);
    const height = heightOf(this.#rows);
    for (const picture of [this.#names, this.#plot]) picture.setAttribute('height', `${height}`);
    this.#names.setAttribute('width', `${width}`);
    this.#names.setAttribute('aria-hidden', 'true');
    this.#names.replaceChildren(...drawNames(this.timeline, this.#rows, width).map(svgElement));
    this.#plot.setAttribute('role', 'group');
    this.#plot.setAttribute('aria-label', 'marks; the arrow keys go from one to the next');
    this.#scroller.id = 'scroller';
    this.#scroller.tabIndex = 0;
    this.#scroller.setAttribute('role', 'region');
    this.#scroller.setAttribute('aria-label', 'lanes; + and - zoom, the arrow keys move, 0 shows all, f folds');
    this.#length.append(this.#plot);
    this.#scroller.append(this.#length);
    this.place.replaceChildren(this.#names, this.#scroller);
    if (this.#scroller.clientWidth > 2 * MARGIN) this.#view = wholeView(this.#scroller.clientWidth - 2 * MARGIN);
    this.#listen();
    this.#draw();
  }

  /** Shows the mark of an entry, in the middle unless it is visible already. */
  select(id: string): void {
    const mark = this.index.markOf(id);
    this.#selected = mark;
    this.#focused = mark ?? this.#focused;
    if (mark && !isInView(this.timeline, this.#view, mark.at)) {
      this.#show(centredView(this.timeline, this.#view, mark.at));
    }
    this.chosen(id);
    this.#drawSoon();
  }

  /** Runs the action of a button or key. Returns whether there is such an action. */
  act(action: string): boolean {
    const { timeline } = this;
    const view = this.#view;
    switch (action) {
      case 'zoom-in':
        this.#show(zoomedView(timeline, view, ZOOM_STEP));
        break;
      case 'zoom-out':
        this.#show(zoomedView(timeline, view, 1 / ZOOM_STEP));
        break;
      case 'left':
        this.#show(pannedView(view, -PAN_STEP * view.width));
        break;
      case 'right':
        this.#show(pannedView(view, PAN_STEP * view.width));
        break;
      case 'all':
        this.#show({ ...wholeView(view.width), isFolded: view.isFolded });
        break;
      case 'fold':
        this.#show(foldedView(timeline, view, !view.isFolded || view.opened.size > 0));
        break;
      default:
        return false;
    }
    return true;
  }

  #show(view: PageView): void {
    this.#view = view;
    this.#drawSoon();
  }

  #drawSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.#draw();
    });
  }

  #draw(): void {
    const view = this.#view;
    const axis = axisOfView(this.timeline, view);
    const width = view.width + 2 * MARGIN;
    this.#length.style.width = `${view.columns + 2 * MARGIN}px`;
    this.#plot.setAttribute('width', `${width}`);
    this.#plot.setAttribute('viewBox', `${-MARGIN} 0 ${width} ${heightOf(this.#rows)}`);
    if (Math.abs(this.#scroller.scrollLeft - view.scroll) >= 1) this.#scroller.scrollLeft = view.scroll;
    const links = this.#selected && this.index.linksOf(this.#selected);
    const related = new Map<Mark, string>([
      ...(links?.effects.map(({ effect }) => [effect, 'effect'] as const) ?? []),
      ...(links?.causes.map(({ cause }) => [cause, 'cause'] as const) ?? []),
      ...(this.#selected ? [[this.#selected, 'selected'] as const] : []),
    ]);
    const seen = { start: view.scroll, end: view.scroll + view.width };
    const shapes = drawPlot(this.timeline, this.#rows, axis, seen);
    const hadFocus = document.activeElement !== null && this.#plot.contains(document.activeElement);
    this.#marks = new Map();
    this.#plot.classList.toggle('has-selection', related.size > 0);
    const lines = drawLinks(this.#rows, axis, [...(links?.causes ?? []), ...(links?.effects ?? [])], seen);
    this.#plot.replaceChildren(...shapes.map((shape) => this.#elementOf(shape, related)), ...lines.map(svgElement));
    this.#giveFocus(hadFocus);
  }

  #elementOf(shape: Shape, related: ReadonlyMap<Mark, string>): SVGElement {
    const element = svgElement(shape);
    if (!shape.mark && !shape.fold) return element;
    this.#marks.set(element, shape);
    element.setAttribute('role', 'button');
    element.setAttribute('aria-label', shape.title ?? '');
    element.setAttribute('tabindex', '-1');
    const relation = shape.mark && related.get(shape.mark);
    if (relation !== undefined) element.classList.add(relation);
    return element;
  }

  /** The tab key reaches one mark: the one that had the focus last, else the first important one. */
  #giveFocus(hadFocus: boolean): void {
    const drawn = [...this.#marks];
    const same = drawn.find(([, { mark }]) => mark !== undefined && mark === this.#focused);
    const [element] = same ?? drawn.find(([, { mark }]) => mark && isNotable(mark)) ?? drawn[0] ?? [];
    element?.setAttribute('tabindex', '0');
    if (!hadFocus) return;
    const next = same ? element : this.#scroller;
    if (next instanceof HTMLElement || next instanceof SVGElement) next.focus({ preventScroll: true });
  }

  #listen(): void {
    const scroller = this.#scroller;
    scroller.addEventListener('scroll', () => {
      if (Math.abs(scroller.scrollLeft - this.#view.scroll) < 1) return;
      this.#show({ ...this.#view, scroll: scroller.scrollLeft });
    });
    scroller.addEventListener(
      'wheel',
      (event) => {
        // The browser itself scrolls sideways, and with shift.
        if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
        event.preventDefault();
        this.#show(zoomedView(this.timeline, this.#view, 2 ** (-event.deltaY / 300), this.#within(event)));
      },
      { passive: false },
    );
    this.#listenToPointer();
    scroller.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (this.#press(event.key)) event.preventDefault();
    });
    new ResizeObserver(() => {
      const width = scroller.clientWidth - 2 * MARGIN;
      if (width > 0 && width !== this.#view.width) this.#show(resizedView(this.timeline, this.#view, width));
    }).observe(scroller);
  }

  #listenToPointer(): void {
    const plot = this.#plot;
    let drag: { readonly x: number; readonly scroll: number; hasMoved: boolean } | undefined;
    plot.addEventListener('pointerdown', (event) => {
      if (event.button === 0 && event.pointerType === 'mouse') {
        drag = { x: event.clientX, scroll: this.#view.scroll, hasMoved: false };
      }
    });
    window.addEventListener('pointermove', (event) => {
      if (!drag) return;
      const by = drag.x - event.clientX;
      drag.hasMoved ||= Math.abs(by) > STEADY;
      if (drag.hasMoved) this.#show(pannedView({ ...this.#view, scroll: drag.scroll }, by));
    });
    plot.addEventListener('click', (event) => {
      if (!drag?.hasMoved) this.#choose(event.target, this.#within(event));
      drag = undefined;
    });
    window.addEventListener('pointerup', (event) => {
      if (!(event.target instanceof Node && plot.contains(event.target))) drag = undefined;
    });
    plot.addEventListener('pointerover', (event) => {
      const shape = event.target instanceof Element ? this.#marks.get(event.target) : undefined;
      if (shape?.title === undefined) this.#tip.hide();
      else this.#tip.show(shape.title, event.clientX, event.clientY);
    });
    plot.addEventListener('pointerleave', () => this.#tip.hide());
    // Browsers let a picture that listens to the focus receive it.
    this.#scroller.addEventListener('focusin', (event) => {
      const shape = event.target instanceof Element ? this.#marks.get(event.target) : undefined;
      this.#focused = shape?.mark ?? this.#focused;
    });
  }

  #within(event: MouseEvent): number {
    return event.clientX - this.#scroller.getBoundingClientRect().left - MARGIN;
  }

  #choose(target: EventTarget | null, x: number): void {
    const shape = target instanceof Element ? this.#marks.get(target) : undefined;
    if (shape?.fold) this.#show(openedView(this.timeline, this.#view, shape.fold, x));
    else this.#selectMark(shape?.mark);
  }

  #selectMark(mark: Mark | undefined): void {
    this.#selected = mark;
    this.#focused = mark ?? this.#focused;
    this.chosen(mark?.entry);
    this.#drawSoon();
  }

  #press(key: string): boolean {
    const active = document.activeElement;
    const shape = active ? this.#marks.get(active) : undefined;
    if (key === 'Escape') {
      this.#selectMark(undefined);
      return true;
    }
    if (shape && (key === 'Enter' || key === ' ')) {
      this.#choose(active, this.#view.width / 2);
      return true;
    }
    if (shape?.mark && key.startsWith('Arrow')) {
      this.#goFrom(shape.mark, key);
      return true;
    }
    return this.act(ACTIONS[key] ?? '');
  }

  #goFrom(mark: Mark, key: string): void {
    const lanes = this.#rows.flatMap(({ lane }) => lane ?? []);
    const next = nextMark(lanes, mark, DIRECTIONS[key] ?? 'right');
    if (!next) return;
    this.#focused = next;
    const view = isInView(this.timeline, this.#view, next.at)
      ? this.#view
      : centredView(this.timeline, this.#view, next.at);
    this.#show(view);
  }
}

const ACTIONS: Readonly<Record<string, string>> = {
  '+': 'zoom-in',
  '=': 'zoom-in',
  '-': 'zoom-out',
  '0': 'all',
  f: 'fold',
  ArrowLeft: 'left',
  ArrowRight: 'right',
};

const DIRECTIONS: Readonly<Record<string, 'left' | 'right' | 'up' | 'down'>> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
};
