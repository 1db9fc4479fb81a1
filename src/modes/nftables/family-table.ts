import { setImmediate as nextTurn } from 'node:timers/promises';
import { KernelError } from '../../kernel/errors.ts';
import { BatchError, type Commit, type NftablesSocket, Transaction } from '../../kernel/nftables/index.ts';
import { errorText } from '../../lib/error-text.ts';
import { type PlanDiff, planName, type ServicePortPlan } from '../../plan/index.ts';
import type { ModeEvents, SetAside } from '../mode.ts';
import { notePlans } from '../note-plans.ts';
import { culprits } from './culprits.ts';
import { type Leftovers, type PlanChange, type Prepared, prepare } from './diff.ts';
import { prepareElementRepair } from './element-repair.ts';
import { type FixedOptions, isForeign, prepareAddresses, prepareFixed, sameAddresses, sameProgram } from './fixed.ts';
import { fixedSets, type Layout, TABLE } from './layout.ts';
import { chainIdentity, Ledger, setIdentity } from './ledger.ts';
import { MeddlingCheck, MeddlingError } from './meddling.ts';
import { fixedChains } from './program.ts';
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
  readonly #wanted = new Map<string, ServicePortPlan>();
  readonly #committed = new Map<string, ServicePortPlan>();
  readonly #setAside = new Map<string, { readonly plan: ServicePortPlan; readonly error: string }>();
  readonly #dirty = new Set<string>();
  /** What was committed before the table was read again: to fall back on if something newer is refused. */
  #lastGood: ReadonlyMap<string, ServicePortPlan> = new Map();
  #ledger = new Ledger();
  #leftovers: Leftovers = { chains: new Map(), sets: new Map() };
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
    notePlans(plans, this.#wanted, this.#dirty);
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
    const { family } = this.layout;
    return [...this.#setAside.values()].map(({ plan, error }) => ({ family, servicePort: planName(plan), error }));
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
    else await this.#writeAll(this.#changes(this.#dirty), undefined, undefined);
  }

  /**
   * Reads the table and writes what differs from what is wanted, wherever the difference comes from. Returns what was
   * written, as scripts.
   */
  async adopt(): Promise<readonly Transaction[]> {
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
      const transaction = prepareElementRepair(this.#context, this.#committed.values(), elements);
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
    const { chains, sets } = this.#leftovers;
    if (!this.hasLeftovers) return;
    const transaction = new Transaction(this.layout.nft, TABLE);
    for (const chain of chains.values()) transaction.flush(chain);
    for (const set of sets.values()) transaction.delete(set);
    for (const chain of chains.values()) transaction.delete(chain);
    await this.#commit(transaction);
    this.#leftovers = { chains: new Map(), sets: new Map() };
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
    this.#unsure = true;
    this.#lastGood = new Map([...this.#lastGood, ...this.#committed]);
    this.#ledger = new Ledger(standingPicks(this.layout).map(({ chain }) => chainIdentity(chain.name)));
    this.#leftovers = { chains: new Map(), sets: new Map() };
    this.#committed.clear();
    // Where there was no table there is nothing to compare with.
    const present = snapshot.tableHandle === undefined ? undefined : snapshot;
    await this.#writeAll(this.#changes(this.#wanted.keys()), present, { commit: record, meddling });
    await record(this.#removeLeftovers(snapshot));
    this.#leftovers = this.#unknown(snapshot);
    this.#lastGood = new Map();
    this.#unsure = false;
    this.#addressesChanged = false;
    return written;
  }

  #changes(ids: Iterable<string>): PlanChange[] {
    const changes: PlanChange[] = [];
    for (const id of ids) {
      const to = this.#wanted.get(id);
      const from = this.#committed.get(id);
      // What was refused is tried again when it changes, not before; until then its last good version counts.
      const refused = this.#setAside.get(id);
      if (refused && refused.plan === to) {
        const good = from ?? this.#lastGood.get(id);
        if (good !== from) changes.push({ id, from, to: good });
        continue;
      }
      if (refused) this.#setAside.delete(id);
      if (from !== to) changes.push({ id, from, to });
    }
    return changes.length > PORTS_A_TRANSACTION ? changes.sort(byImportance) : changes;
  }

  /** Without an adoption under way, one is begun if the kernel refuses: the table may not be what we think it is. */
  async #writeAll(
    changes: readonly PlanChange[],
    snapshot: Snapshot | undefined,
    adoption: Adoption | undefined,
  ): Promise<void> {
    const commit = adoption?.commit ?? this.#commit;
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
    this.#dirty.clear();
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
  #refuse({ id, to }: PlanChange, error: KernelError): readonly PlanChange[] {
    if (!to) throw error;
    if (to !== this.#wanted.get(id)) return [];
    const text = errorText(error);
    this.#setAside.set(id, { plan: to, error: text });
    this.#events.setAside({ family: this.layout.family, servicePort: planName(to), error: text });
    const good = this.#lastGood.get(id);
    return good && good !== to ? [{ id, from: undefined, to: good }] : [];
  }

  #settle(part: readonly PlanChange[], { counts, released, revived }: Prepared): void {
    for (const { id, to } of part) {
      if (to) this.#committed.set(id, to);
      else this.#committed.delete(id);
    }
    this.#ledger.apply(counts);
    if (revived.size + released.chains.size + released.sets.size === 0) return;
    const { chains, sets } = this.#leftovers;
    this.#leftovers = {
      chains: new Map([...chains, ...released.chains].filter(([name]) => !revived.has(chainIdentity(name)))),
      sets: new Map([...sets, ...released.sets].filter(([name]) => !revived.has(setIdentity(name)))),
    };
  }

  /** Elements that the kernel has and nobody wants. */
  #removeLeftovers(snapshot: Snapshot): Transaction {
    const transaction = new Transaction(this.layout.nft, TABLE);
    for (const { set, elements } of this.#strayElements(snapshot)) transaction.deleteElements(set, elements);
    return transaction;
  }

  *#strayElements(snapshot: Snapshot) {
    const fixed = new Set<string>([this.layout.nodePortIPs.name, this.layout.serviceCIDRs.name]);
    for (const [name, listed] of snapshot.elements) {
      if (!fixed.has(name)) yield { set: listed.set, elements: [...listed.leftovers()] };
    }
  }

  /** Chains and sets that the kernel has and nobody wants. */
  #unknown(snapshot: Snapshot): Leftovers {
    const fixed = fixedNames(this.layout, this.#options);
    const chains = [...snapshot.chains].filter(
      ([name]) => !fixed.has(name) && this.#ledger.count(chainIdentity(name)) === 0,
    );
    const sets = [...snapshot.sets].filter(
      ([name, set]) =>
        !fixed.has(name) && !set.flags?.includes('anonymous') && this.#ledger.count(setIdentity(name)) === 0,
    );
    return { chains: new Map(chains.map(([name, { chain }]) => [name, chain])), sets: new Map(sets) };
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

function fixedNames(layout: Layout, options: FixedOptions): ReadonlySet<string> {
  const chains = fixedChains(layout, options).map(({ chain }) => chain.name);
  return new Set([...chains, ...fixedSets(layout).map(({ name }) => name)]);
}
