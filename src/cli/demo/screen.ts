import { visibleLength } from '../terminal-text.ts';

export interface Terminal {
  write(text: string): unknown;
  readonly columns?: number;
  readonly rows?: number;
}

const OPEN = '\x1b[?1049h\x1b[?25l';
const CLOSE = '\x1b[?25h\x1b[?1049l';
/** With these codes, a terminal that supports them shows a picture only when it is complete. */
const BEGIN_PICTURE = '\x1b[?2026h';
const END_PICTURE = '\x1b[?2026l';
const HOME = '\x1b[H';
const CLEAR_LINE = '\x1b[K';
const CLEAR_BELOW = '\x1b[J';

/** Draws pictures on the alternate screen of the terminal. `close` brings the former content back. */
export class Screen {
  readonly #terminal: Terminal;
  #isOpen = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  get width(): number {
    return this.#terminal.columns ?? 80;
  }

  draw(lines: readonly string[]): void {
    const open = this.#isOpen ? '' : OPEN;
    this.#isOpen = true;
    const height = this.#terminal.rows ?? 24;
    const text = limitHeight(lines, height, this.width)
      .map(line => line + CLEAR_LINE)
      .join('\r\n');
    this.#terminal.write(`${open}${BEGIN_PICTURE}${HOME}${text}${CLEAR_BELOW}${END_PICTURE}`);
  }

  close(): void {
    if (this.#isOpen) this.#terminal.write(CLOSE);
    this.#isOpen = false;
  }
}

function limitHeight(lines: readonly string[], height: number, width: number): readonly string[] {
  if (lines.length <= height) return lines;
  const note = `… ${lines.length - height + 1} more lines: make the terminal taller`;
  return [...lines.slice(0, height - 1), visibleLength(note) > width ? '…' : note];
}
