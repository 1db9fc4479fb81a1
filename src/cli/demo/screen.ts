import { truncate } from '../terminal-text.ts';
import type { Key } from './keys.ts';

export interface Terminal {
  write(text: string): unknown;
  readonly columns?: number;
  readonly rows?: number;
}

/** The lines of a picture. The fixed ones stay when the others are scrolled. */
export interface Picture {
  readonly fixed: readonly string[];
  readonly scrolled: readonly string[];
}

const OPEN = '\x1b[?1049h\x1b[?25l';
const CLOSE = '\x1b[?25h\x1b[?1049l';
/** With these codes, a terminal that supports them shows a picture only when it is complete. */
const BEGIN_PICTURE = '\x1b[?2026h';
const END_PICTURE = '\x1b[?2026l';
const HOME = '\x1b[H';
const CLEAR_LINE = '\x1b[K';
const CLEAR_BELOW = '\x1b[J';

/** More lines than any picture has. It is finite, because `end` and `home` may come before the next picture. */
const ALL = 2 ** 31;

/** On a terminal with fewer lines for the rest, the fixed lines are scrolled, too. */
const MIN_SCROLLED = 3;

/** Draws pictures on the alternate screen of the terminal. `close` brings the former content back. */
export class Screen {
  readonly #terminal: Terminal;
  #isOpen = false;
  /** The number of lines that are scrolled out of sight. */
  #offset = 0;
  /** The number of lines of the last page. */
  #page = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  get width(): number {
    return this.#terminal.columns ?? 80;
  }

  draw(picture: Picture): void {
    const open = this.#isOpen ? '' : OPEN;
    this.#isOpen = true;
    const text = this.#visibleLines(picture)
      .map(line => line + CLEAR_LINE)
      .join('\r\n');
    this.#terminal.write(`${open}${BEGIN_PICTURE}${HOME}${text}${CLEAR_BELOW}${END_PICTURE}`);
  }

  /** The next picture shows another part. Keys that do not scroll have no effect. */
  scroll(key: Key): void {
    const distances: Readonly<Record<Key, number>> = {
      up: -1,
      down: 1,
      'page-up': -this.#page,
      'page-down': this.#page,
      home: -ALL,
      end: ALL,
      quit: 0,
    };
    this.#offset = Math.min(ALL, Math.max(0, this.#offset + distances[key]));
  }

  close(): void {
    if (this.#isOpen) this.#terminal.write(CLOSE);
    this.#isOpen = false;
  }

  #visibleLines({ fixed, scrolled }: Picture): readonly string[] {
    const height = this.#terminal.rows ?? 24;
    if (fixed.length + scrolled.length <= height) {
      this.#offset = 0;
      return [...fixed, ...scrolled];
    }
    // The last line shows the position.
    const page = height - fixed.length - 1;
    if (page < MIN_SCROLLED && fixed.length > 0) {
      return this.#visibleLines({ fixed: [], scrolled: [...fixed, ...scrolled] });
    }
    this.#page = Math.max(1, page);
    this.#offset = Math.min(this.#offset, scrolled.length - this.#page);
    const end = this.#offset + this.#page;
    const position = `lines ${this.#offset + 1}–${end} of ${scrolled.length}; ↑ ↓ PgUp PgDn Home End scroll`;
    return [...fixed, ...scrolled.slice(this.#offset, end), truncate(position, this.width)].slice(0, height);
  }
}
