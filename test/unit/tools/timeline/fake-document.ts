import { runInNewContext } from 'node:vm';

type Listener = (event: FakeEvent) => void;

export interface FakeEvent {
  readonly target: unknown;
  readonly [field: string]: unknown;
}

class FakeNode {}

/** As much of an element as the page's script asks of one. */
export class FakeElement extends FakeNode {
  readonly attributes = new Map<string, string>();
  readonly style: Record<string, string> = {};
  readonly dataset: Record<string, string> = {};
  readonly listeners = new Map<string, Listener[]>();
  childNodes: FakeElement[] = [];
  clientWidth = 0;
  scrollLeft = 0;
  hidden = false;
  text = '';

  constructor(
    readonly page: FakePage,
    readonly tag: string,
  ) {
    super();
  }

  get classes(): string[] {
    return (this.attributes.get('class') ?? '').split(' ').filter((name) => name !== '');
  }
  readonly classList = {
    add: (name: string): void => this.setAttribute('class', [...new Set([...this.classes, name])].join(' ')),
    toggle: (name: string, isOn: boolean): void => {
      const others = this.classes.filter((one) => one !== name);
      this.setAttribute('class', (isOn ? [...others, name] : others).join(' '));
    },
  };
  set className(name: string) {
    this.setAttribute('class', name);
  }
  set id(id: string) {
    this.setAttribute('id', id);
  }
  set tabIndex(index: number) {
    this.setAttribute('tabindex', `${index}`);
  }
  get textContent(): string {
    return this.text + this.childNodes.map(({ textContent }) => textContent).join('');
  }
  set textContent(text: string) {
    this.childNodes = [];
    this.text = text;
  }
  /** Nothing that comes from a timeline may ever become markup. */
  set innerHTML(_: string) {
    throw new Error('innerHTML was written');
  }
  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value);
  }
  getAttribute(name: string): string | null {
    return this.attributes.get(name) ?? null;
  }
  append(...nodes: FakeElement[]): void {
    this.childNodes.push(...nodes);
  }
  replaceChildren(...nodes: FakeElement[]): void {
    this.text = '';
    this.childNodes = [...nodes];
  }
  contains(other: unknown): boolean {
    return other === this || this.childNodes.some((child) => child.contains(other));
  }
  addEventListener(type: string, listener: Listener): void {
    this.listeners.set(type, [...(this.listeners.get(type) ?? []), listener]);
  }
  focus(): void {
    this.page.document.activeElement = this;
  }
  getBoundingClientRect(): object {
    return { left: 0, top: 0, width: 0, height: 0 };
  }

  /** An event of the element, passed to its listeners; then the page draws. Returns whether the browser's own action was prevented. */
  tell(type: string, fields: object = {}): boolean {
    let isPrevented = false;
    const event = { target: this, preventDefault: () => (isPrevented = true), clientX: 0, clientY: 0, ...fields };
    for (const listener of this.listeners.get(type) ?? []) listener(event);
    this.page.drawFrames();
    return isPrevented;
  }
  /** Every element below this one that fits. */
  all(fits: (element: FakeElement) => boolean): FakeElement[] {
    return this.childNodes.flatMap((child) => [...(fits(child) ? [child] : []), ...child.all(fits)]);
  }
}

class FakeHtmlElement extends FakeElement {}
class FakeSvgElement extends FakeElement {}

/** A page with the elements that the script looks for, which is run in it. */
export class FakePage {
  readonly location = { hash: '', pathname: '/', search: '' };
  readonly document: Record<string, unknown> & { activeElement: FakeElement | undefined };
  readonly board = new FakeHtmlElement(this, 'div');
  readonly panel = new FakeHtmlElement(this, 'aside');
  readonly body = new FakeHtmlElement(this, 'body');
  readonly root = new FakeHtmlElement(this, 'html');
  readonly buttons: readonly FakeElement[];
  readonly window = new FakeHtmlElement(this, 'window');
  #frames: (() => void)[] = [];

  constructor(script: string, data: string, hash = '', width = 1000) {
    this.location.hash = hash;
    this.buttons = ['zoom-in', 'zoom-out', 'left', 'right', 'all', 'fold'].map((action) => {
      const button = new FakeHtmlElement(this, 'button');
      button.dataset.action = action;
      return button;
    });
    const holder = new FakeHtmlElement(this, 'script');
    holder.text = data;
    const known: Record<string, FakeElement> = { '#timeline-data': holder, '#board': this.board, '#panel': this.panel };
    this.document = {
      activeElement: undefined,
      body: this.body,
      documentElement: this.root,
      querySelector: (selector: string) => known[selector] ?? null,
      querySelectorAll: () => this.buttons,
      createElement: (tag: string) => Object.assign(new FakeHtmlElement(this, tag), { clientWidth: width }),
      createElementNS: (_: string, tag: string) => new FakeSvgElement(this, tag),
    };
    runInNewContext(script, {
      document: this.document,
      window: Object.assign(this.window, { innerWidth: width, innerHeight: 800 }),
      location: this.location,
      history: { replaceState: () => (this.location.hash = '') },
      requestAnimationFrame: (draw: () => void) => this.#frames.push(draw),
      ResizeObserver: class {
        observe(): void {}
      },
      Node: FakeNode,
      Element: FakeElement,
      HTMLElement: FakeHtmlElement,
      SVGElement: FakeSvgElement,
    });
    this.drawFrames();
  }

  drawFrames(): void {
    for (const draw of this.#frames.splice(0)) draw();
  }

  get plot(): FakeElement {
    return this.board.all(({ classes }) => classes.includes('plot'))[0]!;
  }
  get scroller(): FakeElement {
    return this.board.all(({ attributes }) => attributes.get('id') === 'scroller')[0]!;
  }
  /** What is drawn of marks: those whose label has the text. */
  marks(text = ''): readonly FakeElement[] {
    return this.plot.all(
      (element) =>
        element.getAttribute('role') === 'button' && (element.getAttribute('aria-label') ?? '').includes(text),
    );
  }
  press(action: string): void {
    this.buttons.find(({ dataset }) => dataset.action === action)!.tell('click');
  }
  /** What a click on something in the plot does, which listens for all that is in it. */
  click(element: FakeElement): void {
    this.plot.tell('click', { target: element, clientX: 500 });
  }
}
