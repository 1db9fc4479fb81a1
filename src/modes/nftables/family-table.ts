import { setImmediate as nextTurn } from 'node:timers/promises';
import { KernelError } from '../../kernel/errors.ts';
import { BatchError, type Commit, type NftablesSocket, Transaction } from '../../kernel/nftables/index.ts';
import { errorText } from '../../lib/error-text.ts';
import type { PlanDiff } from '../../plan/index.ts';
import type { ModeEvents, SetAside } from '../mode.ts';
import { culprits } from './culprits.ts';
import { type PlanChange, type Prepared, prepare } from './diff.ts';
import { prepareElementRepair } from './element-repair.ts';
import { type FixedOptions, isForeign, prepareAddresses, prepareFixed, sameAddresses, sameProgram } from './fixed.ts';
import { fixedSets, type Layout, TABLE } from './layout.ts';
import { chainIdentity, Ledger } from './ledger.ts';
import { mergeLeftovers, NO_LEFTOVERS, removal, removalOfStrays, unknownObjects } from './leftovers.ts';
import { MeddlingCheck, MeddlingError } from './meddling.ts';
import { PlanBook } from './plan-book.ts';
import { RenderContext, standingPicks } from './shared-chains.ts';
import { EMPTY_SNAPSHOT, listElements, type Snapshot, takeSnapshot } from './snapshot.ts';

/** Service ports in one transaction: small enough that a cold start serves its first Services early. */
const PORTS_A_TRANSACTION = 2000;

/** How often adopting starts over because someone else writes too. */
const ADOPT_ATTEMPTS = 5;

/** What commits a transaction, and tells those who watch that it was ours. */
export type Committer = (transaction: Transaction) => Promise<Commit>;

interface Adoption {
  readonly commit: Committer;
  readonly meddling: MeddlingCheck | undefined;
}

/** The table of one family: what is wanted in it, what is committed, and what the kernel would not take. */
export class FamilyTable {
  readonly layout: Layout;
  readonly #socket: NftablesSocket;
  readonly #commit: Committer;
  readonly #events: ModeEvents;
  readonly #plans = new PlanBook();
  #ledger = new Ledger();
  #leftovers = NO_LEFTOVERS;
  #options: FixedOptions;
  #context: RenderContext;
  /** The table was not read yet, or a write failed half way. */
  #unsure = true;
  #addressesChanged = false;

  constructor(layout: Layout, options: FixedOptions, socket: NftablesSocket, commit: Committer, events: ModeEvents) {
    this.layout = layout;
    this.#options = options;
    this.#context = new RenderContext(layout, options);
    this.#socket = socket;
    this.#commit = commit;
    this.#events = events;
  }

  /** Notes what is wanted; nothing is written before `write` or `adopt`. */
  want(plans: PlanDiff): void {
    this.#plans.want(plans);
  }

  setOptions(options: FixedOptions): void {
    const before = this.#options;
    this.#options = options;
    if (!sameAddresses(before, options)) this.#addressesChanged = true;
    if (sameProgram(before, options)) return;
    this.#context = new RenderContext(this.layout, options);
    // Chains keep their names when their rules change with the options, so all are compared.
    this.#unsure = true;
  }

  get setAside(): readonly SetAside[] {
    return this.#plans.setAside(this.layout.family);
  }

  /** Whether the next write reads the table and looks at everything. */
  get isUnsure(): boolean {
    return this.#unsure;
  }

  get hasLeftovers(): boolean {
    return this.#leftovers.chains.size + this.#leftovers.sets.size > 0;
  }

  /** Writes what changed, relying on what was committed before where that is sure. */
  async write(): Promise<void> {
    if (!this.#unsure && this.#addressesChanged) await this.#writeAddresses();
    if (this.#unsure) await this.adopt();
    else await this.#writeAll(this.#plans.changed(), undefined, undefined);
  }

  /**
   * Reads the table and writes what differs from what is wanted, wherever the difference comes from. Returns what was
   * written, as scripts.
   */
  async adopt(): Promise<readonly Transaction[]> {
    this.#unsure = true;
    for (let attempt = 1; ; attempt++) {
      const meddling = new MeddlingCheck(this.#socket);
      try {
        const commit: Committer = async transaction => meddling.note(await this.#commit(transaction));
        return await this.#adopt(commit, await takeSnapshot(this.#socket, this.layout), meddling);
      } catch (error) {
        const isMeddled = error instanceof MeddlingError || (error instanceof KernelError && meddling.isMeddled);
        if (!isMeddled || attempt === ADOPT_ATTEMPTS) throw error;
      }
    }
  }

  /**
   * Puts right what others changed. Where only elements of some sets were changed, only those sets are read. Returns what
   * was written.
   */
  async repair(sets: ReadonlySet<string> | undefined): Promise<readonly Transaction[]> {
    if (this.#unsure || sets === undefined) return this.adopt();
    try {
      const { nodePortIPs, serviceCIDRs } = this.layout;
      const shared = fixedSets(this.layout).filter(({ name }) => sets.has(name));
      // Addresses, and what belongs to one service port, are too rare to be worth a way of their own.
      if (shared.length < sets.size || shared.includes(nodePortIPs) || shared.includes(serviceCIDRs))
        return this.adopt();
      const elements = await listElements(this.#socket, this.layout, shared);
      const transaction = prepareElementRepair(this.#context, this.#plans.committed(), elements);
      if (transaction.isEmpty) return [];
      await this.#commit(transaction);
      return [transaction];
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
      return this.adopt();
    }
  }

  /** The transactions that `adopt` would commit, for a table that is as given. */
  async preview(snapshot: Snapshot = EMPTY_SNAPSHOT): Promise<readonly Transaction[]> {
    return this.#adopt(async () => ({ generation: undefined }), snapshot, undefined);
  }

  readSnapshot(): Promise<Snapshot> {
    return takeSnapshot(this.#socket, this.layout);
  }

  /** Removes chains and sets that nobody uses any more. */
  async sweep(): Promise<void> {
    if (!this.hasLeftovers) return;
    await this.#commit(removal(this.layout, this.#leftovers));
    this.#leftovers = NO_LEFTOVERS;
  }

  async #writeAddresses(): Promise<void> {
    const transaction = new Transaction(this.layout.nft, TABLE);
    try {
      const { nodePortIPs, serviceCIDRs } = this.layout;
      const elements = await listElements(this.#socket, this.layout, [nodePortIPs, serviceCIDRs]);
      prepareAddresses(transaction, this.layout, this.#options, { elements });
      if (!transaction.isEmpty) await this.#commit(transaction);
      this.#addressesChanged = false;
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
      this.#unsure = true;
    }
  }

  async #adopt(
    commit: Committer,
    found: Snapshot,
    meddling: MeddlingCheck | undefined,
  ): Promise<readonly Transaction[]> {
    const written: Transaction[] = [];
    const record: Committer = async transaction => {
      if (transaction.isEmpty) return { generation: undefined };
      const result = await commit(transaction);
      written.push(transaction);
      return result;
    };
    const foreign = isForeign(this.layout, found);
    if (foreign)
      await record(
        new Transaction(this.layout.nft, TABLE).delete({ kind: 'table', family: this.layout.nft, name: TABLE }),
      );
    const snapshot = foreign ? EMPTY_SNAPSHOT : found;
    await record(prepareFixed(this.layout, this.#options, snapshot));
    this.#ledger = new Ledger(standingPicks(this.layout).map(({ chain }) => chainIdentity(chain.name)));
    this.#leftovers = NO_LEFTOVERS;
    this.#plans.forgetCommitted();
    // Where there was no table there is nothing to compare with.
    const present = snapshot.tableHandle === undefined ? undefined : snapshot;
    await this.#writeAll(this.#plans.all(), present, { commit: record, meddling });
    await record(removalOfStrays(this.layout, snapshot));
    this.#leftovers = unknownObjects(this.layout, this.#options, this.#ledger, snapshot);
    this.#plans.adopted();
    this.#unsure = false;
    this.#addressesChanged = false;
    return written;
  }

  /** Without an adoption under way, one is begun if the kernel refuses: the table may not be what we think it is. */
  async #writeAll(
    changes: PlanChange[],
    snapshot: Snapshot | undefined,
    adoption: Adoption | undefined,
  ): Promise<void> {
    const commit = adoption?.commit ?? this.#commit;
    if (changes.length > PORTS_A_TRANSACTION) changes.sort(byImportance);
    for (let first = 0; first < changes.length; first += PORTS_A_TRANSACTION) {
      const part = changes.slice(first, first + PORTS_A_TRANSACTION);
      try {
        await this.#writePart(part, snapshot, commit);
      } catch (error) {
        if (!(error instanceof KernelError)) throw error;
        if (!adoption) {
          await this.adopt();
          return;
        }
        adoption.meddling?.check(error);
        await this.#blame(part, snapshot, error, commit);
      }
      if (changes.length > PORTS_A_TRANSACTION) {
        this.#events.progress(this.layout.family, first + part.length, changes.length);
        await nextTurn();
      }
    }
    this.#plans.written();
  }

  async #writePart(part: readonly PlanChange[], snapshot: Snapshot | undefined, commit: Committer): Promise<void> {
    const present = { leftovers: this.#leftovers, snapshot };
    const prepared = prepare(this.#context, this.#ledger, present, part);
    if (!prepared.transaction.isEmpty) await commit(prepared.transaction);
    this.#settle(part, prepared);
  }

  /** Finds the service ports that the kernel will not take, sets them aside, and writes the rest. */
  async #blame(
    part: readonly PlanChange[],
    snapshot: Snapshot | undefined,
    error: KernelError,
    commit: Committer,
  ): Promise<void> {
    const guilty = error instanceof BatchError ? culprits(this.#context, part, error) : new Set<string>();
    if (part.length === 1 || guilty.size > 0) {
      const blamed = part.filter(({ id }) => part.length === 1 || guilty.has(id));
      if (!isAboutObjects(error)) throw error;
      const others = part.filter(change => !blamed.includes(change));
      const fallbacks = blamed.flatMap(change => this.#refuse(change, error));
      await this.#writeOrBlame([...others, ...fallbacks], snapshot, commit);
      return;
    }
    const middle = part.length >> 1;
    await this.#writeOrBlame(part.slice(0, middle), snapshot, commit);
    await this.#writeOrBlame(part.slice(middle), snapshot, commit);
  }

  async #writeOrBlame(part: readonly PlanChange[], snapshot: Snapshot | undefined, commit: Committer): Promise<void> {
    if (part.length === 0) return;
    try {
      await this.#writePart(part, snapshot, commit);
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
      await this.#blame(part, snapshot, error, commit);
    }
  }

  /** Sets a service port aside. Returns the change to its last good version, if there is one. */
  #refuse(change: PlanChange, error: KernelError): readonly PlanChange[] {
    if (!change.to) throw error;
    const { refused, fallback } = this.#plans.refuse(change, errorText(error));
    if (refused) this.#events.setAside({ family: this.layout.family, ...refused });
    return fallback ? [fallback] : [];
  }

  #settle(part: readonly PlanChange[], { counts, released, revived }: Prepared): void {
    this.#plans.settle(part);
    this.#ledger.apply(counts);
    if (revived.size + released.chains.size + released.sets.size === 0) return;
    this.#leftovers = mergeLeftovers(this.#leftovers, released, revived);
  }
}

/** Names and the API come first, for all else depends on them. */
function byImportance(a: PlanChange, b: PlanChange): number {
  return rank(a) - rank(b);
}

function rank({ from, to }: PlanChange): number {
  const plan = to ?? from;
  if (!plan) return 3;
  if (plan.port.port === 53) return 0;
  return plan.service === 'default/kubernetes' ? 1 : 2;
}

/** Lack of memory or permission is nobody's fault. */
function isAboutObjects({ code, errno }: KernelError): boolean {
  return code === 'KERNEL_REFUSED' && !['ENOMEM', 'EPERM', 'ENOBUFS', 'EINTR', 'EAGAIN'].includes(errno ?? '');
}
