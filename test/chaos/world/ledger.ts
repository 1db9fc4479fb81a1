/** What an address of a Service leads to, from one time to another. Times are milliseconds since 1970. */
export interface AddressState {
  readonly from: number;
  readonly until: number;
  /** The endpoints that may answer, as `IP:PORT`. If there are none, connections must be refused. */
  readonly answers: ReadonlySet<string>;
  /** The port at the pods of the Service that has the address. It belongs to this Service alone. */
  readonly targetPort?: number | undefined;
}

/** No question goes back further than this. */
const KEPT_MS = 600_000;
const NOTHING: ReadonlySet<string> = new Set();

/** What the API server had for each address, and when. */
export class Ledger {
  readonly #states = new Map<string, AddressState[]>();
  /** The endpoints in the EndpointSlice of each Service, also while the Service does not exist, by its target port. */
  readonly #slices = new Map<number, AddressState[]>();
  #unknown = 0;

  /** False while the API server may have something that is not in the ledger yet. Connections are judged later then. */
  get isComplete(): boolean {
    return this.#unknown === 0;
  }

  /** Does work after which the ledger has everything again. */
  async whileIncomplete(work: () => Promise<void>): Promise<void> {
    this.#unknown++;
    try {
      await work();
    } finally {
      this.#unknown--;
    }
  }

  /** The API server got the change at some time between `sentAt` and `doneAt`. */
  change(address: string, answers: Iterable<string>, sentAt: number, doneAt: number, targetPort?: number): void {
    const state = { from: sentAt, until: Number.POSITIVE_INFINITY, answers: new Set(answers), targetPort };
    this.#states.set(address, [...ended(this.#states.get(address), doneAt), state]);
  }

  /** The same for the EndpointSlice of a Service. */
  changeSlice(targetPort: number, answers: Iterable<string>, sentAt: number, doneAt: number): void {
    const state = { from: sentAt, until: Number.POSITIVE_INFINITY, answers: new Set(answers) };
    this.#slices.set(targetPort, [...ended(this.#slices.get(targetPort), doneAt), state]);
  }

  /**
   * Whether the answer fits a Service that had the address, and its EndpointSlice, each at some moment between the two
   * times. A proxy that was cut off may have Services and EndpointSlices of different moments.
   */
  hadApart(address: string, answer: string, begin: number, end: number): boolean {
    const targetPort = Number(answer.slice(answer.lastIndexOf(':') + 1));
    const slices = (this.#slices.get(targetPort) ?? []).filter(isBetween(begin, end));
    const hadAddress = this.statesBetween(address, begin, end).some(state => state.targetPort === targetPort);
    return hadAddress && slices.some(({ answers }) => answers.has(answer));
  }

  /** All states that held at some moment between the two times. */
  statesBetween(address: string, begin: number, end: number): readonly AddressState[] {
    const known = this.#states.get(address) ?? [];
    const first = known[0]?.from ?? Number.POSITIVE_INFINITY;
    const before: AddressState[] = begin < first ? [{ from: 0, until: first, answers: NOTHING }] : [];
    return [...before, ...known.filter(isBetween(begin, end))];
  }

  now(address: string): ReadonlySet<string> {
    return this.#states.get(address)?.at(-1)?.answers ?? NOTHING;
  }

  get addresses(): readonly string[] {
    return [...this.#states.keys()];
  }
}

function isBetween(begin: number, end: number): (state: AddressState) => boolean {
  return ({ from, until }) => from <= end && until >= begin;
}

/** The states until now, without those that no question concerns any more. */
function ended(states: readonly AddressState[] = [], doneAt: number): AddressState[] {
  return states
    .filter(({ until }) => until > doneAt - KEPT_MS)
    .map(state => ({ ...state, until: Math.min(state.until, doneAt) }));
}
