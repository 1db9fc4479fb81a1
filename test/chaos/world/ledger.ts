/** What an address of a Service leads to, from one time to another. Times are milliseconds since 1970. */
export interface AddressState {
  readonly from: number;
  readonly until: number;
  /** The endpoints that may answer, as `IP:PORT`. If there are none, connections must be refused. */
  readonly answers: ReadonlySet<string>;
}

/** No question goes back further than this. */
const KEPT_MS = 600_000;
const NOTHING: ReadonlySet<string> = new Set();

/** What the API server had for each address, and when. */
export class Ledger {
  readonly #states = new Map<string, AddressState[]>();
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
  change(address: string, answers: Iterable<string>, sentAt: number, doneAt: number): void {
    const former = (this.#states.get(address) ?? [])
      .filter(({ until }) => until > doneAt - KEPT_MS)
      .map(state => ({ ...state, until: Math.min(state.until, doneAt) }));
    this.#states.set(address, [
      ...former,
      { from: sentAt, until: Number.POSITIVE_INFINITY, answers: new Set(answers) },
    ]);
  }

  /** All states that held at some moment between the two times. */
  statesBetween(address: string, begin: number, end: number): readonly AddressState[] {
    const known = this.#states.get(address) ?? [];
    const first = known[0]?.from ?? Number.POSITIVE_INFINITY;
    const before: AddressState[] = begin < first ? [{ from: 0, until: first, answers: NOTHING }] : [];
    return [...before, ...known.filter(({ from, until }) => from <= end && until >= begin)];
  }

  now(address: string): ReadonlySet<string> {
    return this.#states.get(address)?.at(-1)?.answers ?? NOTHING;
  }

  get addresses(): readonly string[] {
    return [...this.#states.keys()];
  }
}
