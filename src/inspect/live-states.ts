import type { Facts } from '../explain/index.ts';
import type { History } from '../history/index.ts';
import type { Problem } from '../lib/problem.ts';
import { problemReasons, setAsideReasons } from './services-context.ts';

type Reasons = ReadonlyMap<string, readonly string[]>;

/** If more wait, a list is cheaper. */
const MAX_WAITING = 1000;

/** What may have changed. */
interface Changed {
  readonly services: Iterable<string>;
  /** Any Service may have changed. */
  readonly isAll: boolean;
}

/** The parts of a Service's state that can change without an event about the Service. */
export class LiveStates {
  readonly #history: History;
  /** Services with changes that the kernel did not have at the last look. */
  #waiting = new Set<string>();
  #areAllWaiting = false;
  #setAside: Reasons = new Map();
  #problems: Reasons = new Map();
  #knownProblems: readonly Problem[] = [];

  constructor(history: History) {
    this.#history = history;
  }

  /** A list of this moment has these states. */
  start(facts: Facts): void {
    const waiting = this.#history.waitingServices();
    this.#areAllWaiting = waiting === undefined || waiting.size > MAX_WAITING;
    this.#waiting = new Set(this.#areAllWaiting ? [] : waiting);
    this.#setAside = setAsideReasons(facts);
    this.problems(facts);
  }

  /** The problems of each Service. They are computed again only if some changed. */
  problems(facts: Facts): Reasons {
    const { problems } = facts;
    if (problems === this.#knownProblems) return this.#problems;
    this.#knownProblems = problems;
    this.#problems = problemReasons(facts);
    return this.#problems;
  }

  /** A change of the Service came. Until the kernel has it, a list may show that. */
  arrived(service: string): void {
    if (this.#waiting.size < MAX_WAITING) this.#waiting.add(service);
    else this.#areAllWaiting = true;
  }

  /** Finds what changed since the last call. */
  look(facts: Facts): Changed {
    const before = { setAside: this.#setAside, problems: this.#problems };
    this.#setAside = setAsideReasons(facts);
    const problems = this.problems(facts);
    const written = this.#written();
    return {
      services: [
        ...written.services,
        ...differentKeys(before.setAside, this.#setAside),
        ...(before.problems === problems ? [] : differentKeys(before.problems, problems)),
      ],
      isAll: written.isAll,
    };
  }

  /** The Services that waited and do not wait any more. */
  #written(): Changed {
    if (!this.#areAllWaiting && this.#waiting.size === 0) return { services: [], isAll: false };
    const waiting = this.#history.waitingServices();
    if (waiting === undefined) return { services: [], isAll: false };
    const isAll = this.#areAllWaiting && waiting.size <= MAX_WAITING;
    if (isAll) this.#areAllWaiting = false;
    const services = [...this.#waiting].filter(service => !waiting.has(service));
    for (const service of services) this.#waiting.delete(service);
    return { services, isAll };
  }
}

function differentKeys(before: Reasons, now: Reasons): readonly string[] {
  const keys = new Set([...before.keys(), ...now.keys()]);
  return [...keys].filter(key => String(before.get(key)) !== String(now.get(key)));
}
