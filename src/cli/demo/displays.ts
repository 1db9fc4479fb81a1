import { printable } from '../../lib/printable.ts';
import type { Io } from '../command.ts';
import type { Style } from '../style.ts';
import type { Key } from './keys.ts';
import { PlainLines } from './plain-lines.ts';
import { Screen } from './screen.ts';
import { tablePicture, type View } from './table.ts';

/** Shows the results whenever they change. */
export interface Display {
  /** The page is served. */
  begin(pageUrl: string): void;
  show(view: View): void;
  scroll(key: Key): void;
  /** Restores the terminal. */
  close(): void;
}

export class ScreenDisplay implements Display {
  readonly #screen: Screen;
  readonly #style: Style;

  constructor(io: Io, style: Style) {
    this.#style = style;
    this.#screen = new Screen(io.stdout);
  }

  begin(): void {
    // The table has the URL.
  }

  show(view: View): void {
    this.#screen.draw(tablePicture(view, this.#style, this.#screen.width));
  }

  scroll(key: Key): void {
    this.#screen.scroll(key);
  }

  close(): void {
    this.#screen.close();
  }
}

export class LineDisplay implements Display {
  readonly #io: Io;
  readonly #lines = new PlainLines();
  #problems: readonly string[] = [];

  constructor(io: Io) {
    this.#io = io;
  }

  begin(pageUrl: string): void {
    this.#io.stderr.write(pageLine(pageUrl));
  }

  show({ rows, problems }: View): void {
    for (const line of this.#lines.newLines(rows)) this.#io.stdout.write(`${line}\n`);
    for (const problem of problems)
      if (!this.#problems.includes(problem)) this.#io.stderr.write(`! ${printable(problem)}\n`);
    this.#problems = problems;
  }

  scroll(): void {
    // A pipe has no keys.
  }

  close(): void {
    // Printed lines stay.
  }
}

/** Where the page is, for a pipe. */
export function pageLine(url: string): string {
  return `The operator's page: ${url}\n`;
}
