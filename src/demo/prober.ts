import type { ObservedConnection } from '../inspect/index.ts';
import { systemClock } from '../lib/clock.ts';
import { sleep } from '../lib/sleep.ts';
import { KeyedTurns } from '../lib/turns.ts';
import type { Place } from './caller.ts';
import { TRIES_PER_ENDPOINT } from './comparison.ts';
import type { Asking, Demo, Question } from './demo.ts';
import { observedConnections } from './observed-connections.ts';
import { Results } from './results.ts';
import type { Row } from './rows.ts';

/** Most of a round is waiting for answers that do not come. */
const CONCURRENT_QUESTIONS = 12;
const MIN_TRIES = 24;
/** A few tries are enough for each round of a live display, because it shows several rounds together. */
const LIVE = { tries: 10, timeoutMs: 500 };
/** A single round must not take a late answer on a busy machine for silence. */
const ONCE_TIMEOUT_MS = 2000;
const PAUSE_MS = 1000;

/** Asks all questions, round after round, and collects the results. */
export class Prober {
  readonly results: Results;
  readonly #demo: Demo;
  readonly #onChange: () => void;
  readonly #onObserved: (connections: readonly ObservedConnection[]) => void;
  readonly #workers = new Set<Promise<void>>();
  #round = new AbortController();

  /** Calls `onObserved` with the connections of each question. */
  constructor(
    demo: Demo,
    onChange: () => void,
    onObserved: (connections: readonly ObservedConnection[]) => void = () => undefined,
  ) {
    this.#demo = demo;
    this.#onObserved = onObserved;
    this.results = new Results(family => demo.outcomeContext(family));
    this.#onChange = onChange;
  }

  /** Call this when plans change. The answers of the current round no longer count, and a new round begins at once. */
  restartRound(): void {
    this.#round.abort();
  }

  /** Runs one round with enough tries for conclusive results. */
  async runOnce(): Promise<void> {
    const round = this.#beginRound();
    this.results.update(await this.#demo.rows(), this.#demo.callers);
    await this.#askAll(round, ({ port }) => {
      const tries = Math.max(MIN_TRIES, TRIES_PER_ENDPOINT * port.used.length);
      return { tries, timeoutMs: ONCE_TIMEOUT_MS };
    });
  }

  /** Runs rounds until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = () => this.restartRound();
    signal.addEventListener('abort', stop);
    try {
      while (!signal.aborted) {
        const round = this.#beginRound();
        this.results.update(await this.#demo.rows(), this.#demo.callers);
        this.#onChange();
        await Promise.race([this.#askAll(round, () => LIVE), abortOf(round)]);
        await sleep(PAUSE_MS, systemClock, round);
      }
    } finally {
      signal.removeEventListener('abort', stop);
      await Promise.allSettled(this.#workers);
    }
  }

  #beginRound(): AbortSignal {
    this.#round = new AbortController();
    return this.#round.signal;
  }

  /** Asks first about cells that have no observation yet. */
  async #askAll(round: AbortSignal, asking: (row: Row) => Asking): Promise<void> {
    const cells = this.results.rows.flatMap(({ row, cells }) =>
      cells.map(({ place, observed }) => ({ row, place, observed })),
    );
    const queue = [...cells.filter(({ observed }) => !observed), ...cells.filter(({ observed }) => observed)];
    const turns = new KeyedTurns();
    const work = async () => {
      for (let next = queue.shift(); next && !round.aborted; next = queue.shift()) {
        const { row, place } = next;
        const ask = () => this.#ask({ row, place }, asking(row), round);
        const key = this.#turnOf(row, place);
        await (key === undefined ? ask() : turns.take(key, ask));
      }
    };
    const workers = Array.from({ length: CONCURRENT_QUESTIONS }, work);
    for (const worker of workers) {
      this.#workers.add(worker);
      worker.catch(() => undefined).finally(() => this.#workers.delete(worker));
    }
    await Promise.all(workers);
  }

  /** Questions with the same key wait for each other. */
  #turnOf({ port: { name, family, plan } }: Row, place: Place): string | undefined {
    // If endpoints take turns, two callers that ask in turns would each see only every other endpoint.
    if (this.#demo.behaviour.choice.kind !== 'random') return `${name} ${family}`;
    // All questions of one caller to one service port share its affinity.
    return plan.port.affinitySeconds > 0 ? `${name} ${place}` : undefined;
  }

  async #ask(question: Question, asking: Asking, round: AbortSignal): Promise<void> {
    const observation = await this.#demo.ask(question, asking);
    if (!observation || round.aborted) return;
    this.results.record(question.row, question.place, observation);
    this.#onObserved(observedConnections(question, observation, this.results.isAsPlanned(question, observation)));
    this.#onChange();
  }
}

function abortOf(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
