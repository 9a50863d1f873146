/** The text beside the pointer. */
export class Tip {
  readonly #box = document.createElement('div');

  constructor() {
    this.#box.id = 'tip';
    this.#box.setAttribute('role', 'tooltip');
    this.#box.hidden = true;
    document.body.append(this.#box);
  }

  show(text: string, x: number, y: number): void {
    this.#box.textContent = text;
    this.#box.hidden = false;
    const { width, height } = this.#box.getBoundingClientRect();
    const left = Math.max(4, Math.min(x + 14, window.innerWidth - width - 8));
    const top = y + 18 + height > window.innerHeight ? y - height - 10 : y + 18;
    this.#box.style.left = `${left}px`;
    this.#box.style.top = `${Math.max(4, top)}px`;
  }

  hide(): void {
    this.#box.hidden = true;
  }
}
