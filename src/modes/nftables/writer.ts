import { setImmediate as nextTurn } from 'node:timers/promises';
import { KernelError } from '../../kernel/errors.ts';
import { BatchError, encodeBatch, type Transaction } from '../../kernel/nftables/index.ts';
import type { ServicePortPlan } from '../../plan/index.ts';
import type { Listing } from '../listing.ts';
import type { ModeEvents } from '../mode.ts';
import type { PlanBook, PlanChange } from '../plan-book.ts';
import type { KernelReading } from '../read-back.ts';
import { PreparationError, preparationErrorOf, writeAccepted } from '../refusal-search.ts';
import { causeOf } from '../set-aside.ts';
import type { Drift, WriteOutcome, Writer } from '../writer.ts';
import { type Prepared, prepare } from './diff.ts';
import { emptyTransaction, planAdoption } from './kernel-state/adoption.ts';
import { prepareElementRepair } from './kernel-state/element-repair.ts';
import { ConcurrentChangeError, GenerationGuard } from './kernel-state/generation-guard.ts';
import { mergeLeftovers, NO_LEFTOVERS, removal, removalOfStrays, unknownObjects } from './kernel-state/leftovers.ts';
import { refusedChanges } from './kernel-state/refused-changes.ts';
import type { Snapshot } from './kernel-state/snapshot.ts';
import type { TableAccess } from './kernel-state/table-access.ts';
import { chainIdentity, UseCounts } from './kernel-state/use-counts.ts';
import { listNftables } from './listing.ts';
import type { LocalhostSync } from './localhost/localhost-listeners.ts';
import { readBackNftables } from './read-back.ts';
import { type FixedOptions, prepareAddresses, sameAddresses, sameProgram } from './table/fixed.ts';
import { fixedSets, type Layout, setsOfFixedElements } from './table/layout.ts';
import { permanentPicks, RenderContext } from './table/shared-chains.ts';

/** Service ports in one transaction: few enough that a cold start serves its first Services early. */
const PORTS_PER_TRANSACTION = 2000;

/** How often the writer reads the table again because another program writes too. */
const ADOPT_ATTEMPTS = 5;

/** Kernels before 6.2 still count uses of a chain that have just ended, and do not delete it. */
const LEFTOVERS_DUE_MS = 1100;

/** Writes the table of one family. */
export class NftablesWriter implements Writer {
  readonly layout: Layout;
  readonly #table: TableAccess;
  readonly #book: PlanBook;
  readonly #events: Pick<ModeEvents, 'progress'>;
  readonly #localhost: LocalhostSync | undefined;
  #useCounts = new UseCounts();
  #leftovers = NO_LEFTOVERS;
  #options: FixedOptions;
  #context: RenderContext;
  /** The writer has not read the table yet, or a write failed half way. */
  #mustAdopt = true;
  /** This writer has written the whole table before. */
  #hasWritten = false;
  #addressesChanged = false;

  constructor(
    layout: Layout,
    options: FixedOptions,
    table: TableAccess,
    book: PlanBook,
    events: Pick<ModeEvents, 'progress'>,
    localhost?: LocalhostSync,
  ) {
    this.layout = layout;
    this.#options = options;
    this.#context = new RenderContext(layout, options);
    this.#table = table;
    this.#book = book;
    this.#events = events;
    this.#localhost = localhost;
  }

  takeSettings(options: FixedOptions): void {
    const before = this.#options;
    this.#options = options;
    if (!sameAddresses(before, options)) this.#addressesChanged = true;
    if (sameProgram(before, options)) return;
    this.#context = new RenderContext(this.layout, options);
    // Chains keep their names when the options change their rules, so the writer must compare all of them.
    this.#mustAdopt = true;
  }

  get isNextWriteFull(): boolean {
    return this.#mustAdopt;
  }

  async write(): Promise<WriteOutcome> {
    if (this.#mustAdopt) {
      await this.#adopt();
      return 'written';
    }
    try {
      if (this.#addressesChanged) await this.#writeAddresses();
      await this.#writeParts(this.#book.changes(), part => this.#writePart(part, undefined));
    } catch (error) {
      // This throws if no service port is the reason. Otherwise the full write sets it aside.
      if (!(error instanceof KernelError)) this.#preparationError(error, this.#book.changes());
      // The table may not be what the writer believes.
      this.#mustAdopt = true;
      return 'needs-full-write';
    }
    this.#localhost?.sync();
    return 'written';
  }

  /** If another program changed only elements of some sets, reads only these sets. */
  async repair({ parts }: Drift): Promise<string | undefined> {
    const written = (parts && (await this.#repairElements(parts))) ?? (await this.#adopt());
    return written.length === 0 ? undefined : summary(written);
  }

  async readBack(plan: ServicePortPlan): Promise<KernelReading> {
    const { lookups } = this.#table;
    const reading = await readBackNftables({ context: this.#context, options: this.#options, lookups, plan });
    const listeners = this.#localhost?.entries(plan) ?? [];
    return { ...reading, entries: [...reading.entries, ...listeners] };
  }

  listing(plans: readonly ServicePortPlan[]): Promise<Listing> {
    return listNftables({
      context: this.#context,
      options: this.#options,
      plans,
      useCounts: this.#useCounts,
      localhost: this.#localhost,
    });
  }

  changeStamp(): unknown {
    return this.#table.generation();
  }

  get leftoversDueMs(): number | undefined {
    const { chains, sets } = this.#leftovers;
    return chains.size + sets.size > 0 ? LEFTOVERS_DUE_MS : undefined;
  }

  async removeLeftovers(): Promise<void> {
    await this.#table.commit(removal(this.layout, this.#leftovers));
    this.#leftovers = NO_LEFTOVERS;
  }

  async #writeAddresses(): Promise<void> {
    const transaction = emptyTransaction(this.layout);
    const { nodePortIPs, serviceCIDRs } = this.layout;
    const elements = await this.#table.elements([nodePortIPs, serviceCIDRs]);
    prepareAddresses(transaction, this.layout, this.#options, { elements });
    if (!transaction.isEmpty) await this.#table.commit(transaction);
    this.#addressesChanged = false;
  }

  /** Undefined if more than elements must be read. */
  async #repairElements(names: ReadonlySet<string>): Promise<readonly Transaction[] | undefined> {
    const sets = fixedSets(this.layout).filter(({ name }) => names.has(name));
    // Changes of fixed elements, and of sets that belong to one service port, are too rare to be worth code of their own.
    const isOther = sets.length < names.size || setsOfFixedElements(this.layout).some(set => sets.includes(set));
    if (this.#mustAdopt || isOther) return undefined;
    try {
      const elements = await this.#table.elements(sets);
      const transaction = prepareElementRepair(this.#context, this.#book.committedPlans().values(), elements);
      if (transaction.isEmpty) return [];
      await this.#table.commit(transaction);
      return [transaction];
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
      return undefined;
    }
  }

  /** Reads the table and writes what differs from what is wanted. Returns what it wrote. */
  async #adopt(): Promise<readonly Transaction[]> {
    this.#mustAdopt = true;
    for (let attempt = 1; ; attempt++) {
      const guard = new GenerationGuard(this.#table);
      try {
        return await this.#adoptSnapshot(await this.#table.snapshot(), guard);
      } catch (error) {
        const isConcurrent = error instanceof KernelError && guard.isConcurrentlyChanged;
        if (!isConcurrent && !(error instanceof ConcurrentChangeError)) throw error;
        if (attempt === ADOPT_ATTEMPTS) throw error;
      }
    }
  }

  async #adoptSnapshot(found: Snapshot, guard: GenerationGuard): Promise<readonly Transaction[]> {
    const { layout } = this;
    const adoption = planAdoption(layout, this.#options, found, this.#hasWritten);
    const { snapshot, isOneTransaction } = adoption;
    const written: Transaction[] = [];
    let before = isOneTransaction ? adoption.before : undefined;
    const commit = async (transaction: Transaction) => {
      const whole = before ? emptyTransaction(layout).append(before).append(transaction) : transaction;
      if (whole.isEmpty) return;
      try {
        guard.noteCommit(await this.#table.commit(whole));
      } catch (error) {
        if (before && isAbout(before, error)) throw fixedPartError(error, guard);
        throw error;
      }
      before = undefined;
      written.push(whole);
    };
    if (!isOneTransaction) await commit(adoption.before);
    this.#useCounts = new UseCounts(permanentPicks(layout).map(({ chain }) => chainIdentity(chain.name)));
    this.#leftovers = NO_LEFTOVERS;
    this.#book.forgetCommitted();
    this.#localhost?.begin(this.#options.nodePortAddresses.containsExplicitLoopback);
    // An empty table needs no comparison.
    const present = snapshot.tableHandle === undefined ? undefined : snapshot;
    const limit = isOneTransaction ? Number.POSITIVE_INFINITY : PORTS_PER_TRANSACTION;
    await this.#writeParts(this.#book.allChanges(), part => this.#writeAccepted(part, present, commit, guard), limit);
    await commit(adoption.after.append(removalOfStrays(layout, snapshot)));
    this.#leftovers = unknownObjects(layout, this.#options, this.#useCounts, snapshot);
    this.#book.finishFullWrite();
    this.#mustAdopt = false;
    this.#hasWritten = true;
    this.#addressesChanged = false;
    this.#localhost?.sync();
    return written;
  }

  async #writeParts(
    changes: PlanChange[],
    write: (part: readonly PlanChange[]) => Promise<void>,
    limit = PORTS_PER_TRANSACTION,
  ): Promise<void> {
    const isLarge = changes.length > limit;
    if (isLarge) changes.sort(byImportance);
    for (let first = 0; first < changes.length; first += limit) {
      const part = changes.slice(first, first + limit);
      await write(part);
      if (!isLarge) continue;
      this.#events.progress(this.layout.family, first + part.length, changes.length);
      await nextTurn();
    }
    this.#book.finishWrite();
  }

  /** Sets service ports aside that the kernel refuses, and writes the others. */
  #writeAccepted(
    changes: readonly PlanChange[],
    snapshot: Snapshot | undefined,
    commit: (transaction: Transaction) => Promise<void>,
    guard: GenerationGuard,
  ): Promise<void> {
    return writeAccepted<PlanChange, KernelError | PreparationError<PlanChange>>(changes, {
      attempt: async part => {
        try {
          await this.#writePart(part, snapshot, commit);
          return undefined;
        } catch (error) {
          if (error instanceof ConcurrentChangeError) throw error;
          if (!(error instanceof KernelError)) return this.#preparationError(error, part);
          guard.check(error);
          return error;
        }
      },
      named: (error, part) => {
        if (error instanceof PreparationError) return [...error.failed.keys()];
        return error instanceof BatchError ? refusedChanges(this.#context, part, error) : [];
      },
      refuse: (change, error) => {
        const isOwn = error instanceof PreparationError;
        if (!change.to || !(isOwn || isAboutObjects(error))) throw error;
        const fallback = this.#book.refuse(change.id, causeOf(isOwn ? error.failed.get(change) : error));
        return fallback ? [fallback] : [];
      },
    });
  }

  #preparationError(error: unknown, changes: readonly PlanChange[]): PreparationError<PlanChange> {
    const present = { leftovers: this.#leftovers };
    return preparationErrorOf(error, changes, change => {
      const { beforehand, transaction } = prepare(this.#context, this.#useCounts, present, [change]);
      return encodeBatch(beforehand.append(transaction), 0);
    });
  }

  async #writePart(
    part: readonly PlanChange[],
    snapshot: Snapshot | undefined,
    commit: (transaction: Transaction) => Promise<unknown> = transaction => this.#table.commit(transaction),
  ): Promise<void> {
    const present = { leftovers: this.#leftovers, snapshot };
    const prepared = prepare(this.#context, this.#useCounts, present, part);
    const { beforehand, transaction, afterwards } = prepared;
    for (const each of [beforehand, transaction, afterwards]) if (!each.isEmpty) await commit(each);
    this.#committed(part, prepared);
  }

  #committed(part: readonly PlanChange[], { useCounts, released, revived }: Prepared): void {
    this.#book.commit(part);
    this.#localhost?.take(part);
    this.#useCounts.apply(useCounts);
    if (revived.size + released.chains.size + released.sets.size === 0) return;
    this.#leftovers = mergeLeftovers(this.#leftovers, released, revived);
  }
}

/** DNS and the API come first, because everything else depends on them. */
function byImportance(a: PlanChange, b: PlanChange): number {
  return rank(a) - rank(b);
}

function rank({ from, to }: PlanChange): number {
  const plan = to ?? from;
  if (!plan) return 3;
  if (plan.port.port === 53) return 0;
  return plan.service === 'default/kubernetes' ? 1 : 2;
}

/** Without memory or a permission, the kernel would refuse any service port. */
function isAboutObjects({ code, errno }: KernelError): boolean {
  return code === 'KERNEL_REFUSED' && !['ENOMEM', 'EPERM', 'ENOBUFS', 'EINTR', 'EAGAIN'].includes(errno ?? '');
}

/** Whether the first command that the kernel refused is one of the transaction. Later refusals may follow from it. */
function isAbout({ commands }: Transaction, error: unknown): error is BatchError {
  const [first] = error instanceof BatchError ? error.failures : [];
  return first !== undefined && commands.includes(first.command);
}

/** No KernelError: the writer would take the service ports of the same transaction for the reason. */
function fixedPartError(cause: BatchError, guard: GenerationGuard): Error {
  guard.check(cause);
  return new Error(`the fixed part of the table: ${cause.message}`, { cause });
}

/** What a repair wrote, in a few words. */
function summary(written: readonly Transaction[]): string {
  const counts = new Map<string, number>();
  for (const { commands } of written) {
    for (const { verb, object } of commands) {
      const what = object.kind === 'elements' ? `element in ${object.set.name}` : object.kind.replace('-handle', '');
      const key = `${verb === 'add' ? 'added' : verb === 'flush' ? 'rewrote' : 'deleted'} ${what}`;
      counts.set(key, (counts.get(key) ?? 0) + (object.kind === 'elements' ? object.elements.length : 1));
    }
  }
  return [...counts].map(([what, count]) => `${what} ×${count}`).join(', ');
}
