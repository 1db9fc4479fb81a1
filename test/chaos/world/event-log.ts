import { appendFileSync, writeFileSync } from 'node:fs';

/** Everything that happened in a run, with times. The file also has the lines of all programs. */
export class EventLog {
  readonly path: string;
  readonly #begin = performance.now();

  constructor(path: string) {
    this.path = path;
    writeFileSync(path, '');
  }

  /** Prints the event, too. */
  note(text: string): void {
    const line = `${((performance.now() - this.#begin) / 1000).toFixed(1).padStart(7)} s  ${text}`;
    console.log(line);
    appendFileSync(this.path, `${new Date().toISOString()} ${line}\n`);
  }

  /** Lines of a program. */
  keep(name: string, lines: readonly string[]): void {
    if (lines.length > 0) appendFileSync(this.path, lines.map(line => `  ${name}: ${line}\n`).join(''));
  }
}
