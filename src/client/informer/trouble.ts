import type { InformerReport } from './report.ts';

/** What keeps a resource from being followed: told once, until it is something else or over. */
export class Trouble {
  readonly #path: string;
  readonly #report: InformerReport;
  #told: string | undefined;
  #waitingTold: string | undefined;

  constructor(path: string, report: InformerReport) {
    this.#path = path;
    this.#report = report;
  }

  tell(problem: string): void {
    if (problem === this.#told) return;
    this.#told = problem;
    this.#report.problem({ where: this.#path, message: `cannot be followed, and is tried again: ${problem}` });
  }

  /** Nothing failed, but nothing comes. */
  waiting(message: string): void {
    if (message === this.#waitingTold) return;
    this.#waitingTold = message;
    this.#report.waiting({ where: this.#path, message });
  }

  over(): void {
    if (this.#told === undefined && this.#waitingTold === undefined) return;
    this.#told = undefined;
    this.#waitingTold = undefined;
    this.#report.recovered(this.#path);
  }
}
