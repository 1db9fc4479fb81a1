import { systemClock } from '../lib/clock.ts';
import { sleep } from '../lib/sleep.ts';
import { KeyedTurns } from '../lib/turns.ts';
import { Board } from './board.ts';
import type { Demo, Question } from './demo.ts';
import type { Row } from './rows.ts';
import { TRIES_AN_ENDPOINT } from './verdict.ts';

/** Much of the time is spent waiting for answers that do not come. */
const QUESTIONS_AT_ONCE = 12;
const FEWEST_TRIES = 24;
/** Some connections a round are enough for a moving picture; several rounds are shown together. */
const LIVE_TRIES = 10;
const PAUSE_MS = 1000;

/** Asks all questions, again and again, and notes the answers on a board. */
export class Rounds {
  readonly board = new Board();
  readonly #demo: Demo;
  readonly #changed: () => void;
  readonly #asking = new Set<Promise<void>>();
  #round = new AbortController();

  constructor(demo: Demo, changed: () => void) {
    this.#demo = demo;
    this.#changed = changed;
  }

  /** Plans become others: what is being asked no longer counts, and a new round begins at once. */
  refresh(): void {
    this.#round.abort();
  }

  /** One round, with enough tries to be sure. */
  async once(): Promise<void> {
    const round = this.#begin();
    this.board.update(await this.#demo.rows());
    await this.#ask(round, ({ port }) => Math.max(FEWEST_TRIES, TRIES_AN_ENDPOINT * port.used.length));
  }

  /** Goes on until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = () => this.refresh();
    signal.addEventListener('abort', stop);
    try {
      while (!signal.aborted) {
        const round = this.#begin();
        this.board.update(await this.#demo.rows());
        this.#changed();
        await Promise.race([this.#ask(round, () => LIVE_TRIES), abortOf(round)]);
        await sleep(PAUSE_MS, systemClock, round);
      }
    } finally {
      signal.removeEventListener('abort', stop);
      await Promise.allSettled(this.#asking);
    }
  }

  #begin(): AbortSignal {
    this.#round = new AbortController();
    return this.#round.signal;
  }

  /** Rows of which nothing is known come first. */
  async #ask(round: AbortSignal, tries: (row: Row) => number): Promise<void> {
    const cells = this.board.rows.flatMap(({ row, cells }) => cells.map(({ place, seen }) => ({ row, place, seen })));
    const queue = [...cells.filter(({ seen }) => !seen), ...cells.filter(({ seen }) => seen)];
    const turns = new KeyedTurns();
    const work = async () => {
      for (let next = queue.shift(); next && !round.aborted; next = queue.shift()) {
        const { row, place } = next;
        const askOne = () => this.#askOne({ row, place }, tries(row), round);
        await (row.port.plan.port.affinitySeconds > 0 ? turns.take(`${row.port.name} ${place}`, askOne) : askOne());
      }
    };
    const workers = Array.from({ length: QUESTIONS_AT_ONCE }, work);
    for (const worker of workers) {
      this.#asking.add(worker);
      worker.catch(() => undefined).finally(() => this.#asking.delete(worker));
    }
    await Promise.all(workers);
  }

  async #askOne(question: Question, tries: number, round: AbortSignal): Promise<void> {
    const observation = await this.#demo.ask(question, tries);
    if (!observation || round.aborted) return;
    this.board.record(question.row, question.place, observation);
    this.#changed();
  }
}

function abortOf(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
