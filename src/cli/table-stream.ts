import { pad, visibleLength } from './terminal-text.ts';

/** So many rows decide the widths of the columns. */
const MEASURED_ROWS = 200;

export interface TableOptions {
  readonly minWidths?: readonly number[];
  /** The columns that are aligned to the right, by index. */
  readonly numbers?: ReadonlySet<number>;
}

/**
 * Prints the rows of a table that come one after the other. The first rows decide the widths of the columns. A later cell
 * that is wider moves only its own line.
 */
export class TableStream {
  readonly #print: (text: string) => void;
  readonly #waiting: (readonly string[])[];
  readonly #minWidths: readonly number[];
  readonly #numbers: ReadonlySet<number> | undefined;
  #widths: readonly number[] | undefined;

  constructor(
    header: readonly string[],
    print: (text: string) => void,
    { minWidths = [], numbers }: TableOptions = {},
  ) {
    this.#waiting = [header];
    this.#minWidths = minWidths;
    this.#numbers = numbers;
    this.#print = print;
  }

  add(cells: readonly string[]): void {
    if (this.#widths) {
      this.#print(this.#line(cells, this.#widths));
      return;
    }
    this.#waiting.push(cells);
    if (this.#waiting.length > MEASURED_ROWS) this.flush();
  }

  /** Prints what waits. Later rows keep the widths. */
  flush(): void {
    if (this.#widths) return;
    const widths = this.#waiting.reduce<number[]>(
      (max, cells) => cells.map((cell, i) => Math.max(max[i] ?? 0, visibleLength(cell))),
      [...this.#minWidths],
    );
    this.#widths = widths;
    this.#print(
      this.#waiting
        .splice(0)
        .map(cells => this.#line(cells, widths))
        .join(''),
    );
  }

  #line(cells: readonly string[], widths: readonly number[]): string {
    const padded = cells.map((cell, i) => {
      const width = widths[i] ?? 0;
      if (this.#numbers?.has(i)) return `${' '.repeat(Math.max(0, width - visibleLength(cell)))}${cell}`;
      return i === cells.length - 1 ? cell : pad(cell, width);
    });
    return `${padded.join('  ').trimEnd()}\n`;
  }
}
