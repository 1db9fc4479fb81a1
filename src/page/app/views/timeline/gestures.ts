/** What a reader does with the axis. Places are pixels from its left edge. */
export interface GestureHandlers {
  /** A factor below 1 shows less time. */
  zoomed(factor: number, x: number): void;
  /** Parts of the length; positive is later. */
  panned(part: number): void;
  /** The pointer draws a span. Undefined: it stopped. */
  drawing(span: Drawn | undefined): void;
  selected(span: Drawn): void;
  clicked(x: number, y: number): void;
}

export interface Drawn {
  readonly a: number;
  readonly b: number;
}

/** A shorter way of the pointer is a click. */
const CLICK_PIXELS = 5;

/** Reads wheel, drag and pinch. Returns a function that ends this. */
export function readGestures(element: HTMLElement, handlers: GestureHandlers): () => void {
  const reader = new GestureReader(element, handlers);
  const ended = new AbortController();
  const { signal } = ended;
  element.addEventListener('wheel', event => reader.wheel(event), { passive: false, signal });
  element.addEventListener('pointerdown', event => reader.down(event), { signal });
  element.addEventListener('pointermove', event => reader.move(event), { signal });
  element.addEventListener('pointerup', event => reader.up(event), { signal });
  element.addEventListener('pointercancel', event => reader.cancel(event), { signal });
  return () => ended.abort();
}

class GestureReader {
  readonly #element: HTMLElement;
  readonly #handlers: GestureHandlers;
  readonly #pointers = new Map<number, { readonly start: number; readonly x: number }>();

  constructor(element: HTMLElement, handlers: GestureHandlers) {
    this.#element = element;
    this.#handlers = handlers;
  }

  wheel(event: WheelEvent): void {
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.#handlers.panned(event.deltaX / Math.max(1, this.#element.clientWidth));
    } else {
      this.#handlers.zoomed(Math.exp(Math.max(-300, Math.min(300, event.deltaY)) / 500), this.#x(event));
    }
  }

  down(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.#element.setPointerCapture(event.pointerId);
    const x = this.#x(event);
    this.#pointers.set(event.pointerId, { start: x, x });
    if (this.#pointers.size > 1) this.#handlers.drawing(undefined);
  }

  move(event: PointerEvent): void {
    const pointer = this.#pointers.get(event.pointerId);
    if (!pointer) return;
    const x = this.#x(event);
    const other = [...this.#pointers].find(([id]) => id !== event.pointerId)?.[1];
    this.#pointers.set(event.pointerId, { ...pointer, x });
    if (other) this.#pinch(Math.abs(pointer.x - other.x), Math.abs(x - other.x), (x + other.x) / 2);
    else if (Math.abs(x - pointer.start) > CLICK_PIXELS) this.#handlers.drawing({ a: pointer.start, b: x });
  }

  up(event: PointerEvent): void {
    const pointer = this.#pointers.get(event.pointerId);
    const isPinch = this.#pointers.size > 1;
    this.cancel(event);
    // After a pinch, the finger that stays draws nothing.
    if (isPinch) this.#pointers.clear();
    if (!pointer || isPinch) return;
    const x = this.#x(event);
    if (Math.abs(x - pointer.start) > CLICK_PIXELS) this.#handlers.selected({ a: pointer.start, b: x });
    else this.#handlers.clicked(x, event.clientY - this.#element.getBoundingClientRect().top);
  }

  cancel(event: PointerEvent): void {
    this.#pointers.delete(event.pointerId);
    this.#handlers.drawing(undefined);
  }

  #pinch(before: number, after: number, middle: number): void {
    if (before > 0 && after > 0) this.#handlers.zoomed(before / after, middle);
  }

  #x(event: MouseEvent): number {
    return event.clientX - this.#element.getBoundingClientRect().left;
  }
}
