import type { Budget } from './budget.ts';
import type { PacketView } from './packet-view.ts';

/** What a rule does with the packet if it matches. */
export type Effect =
  /** untrack: connection tracking ignores the packet, so no rule translates it. The packet goes on. */
  | { readonly kind: 'accept' | 'drop' | 'reject' | 'return' | 'untrack' }
  | { readonly kind: 'jump' | 'goto'; readonly chain: string };

/** Something that a rule may do with the packet. */
export interface PossibleEffect {
  readonly effect: Effect;
  /** What decides whether the rule does it. Empty if the rule surely does it. */
  readonly unknown: readonly string[];
}

export interface WalkedRule {
  /** Empty if the rule surely does nothing. */
  effects(view: PacketView): readonly PossibleEffect[] | Promise<readonly PossibleEffect[]>;
  text(): string | Promise<string>;
  readonly comment: string | undefined;
}

/** The rules of a table of any program. */
export interface WalkedTable {
  rules(chain: string): Promise<readonly WalkedRule[]>;
}

/** A rule that drops or rejects the packet, or may. */
export interface Drop {
  readonly chain: string;
  readonly rule: WalkedRule;
  readonly verdict: 'drop' | 'reject' | 'untrack';
  readonly unknown: readonly string[];
}

/** How a packet leaves a chain. */
interface Passage {
  /** The packet may come back to the chain that jumped. */
  readonly returns: boolean;
  readonly mayAccept: boolean;
  /** What decides whether a rule accepted the packet, if it may come back. */
  readonly accepted: readonly string[];
}

/** The kernel allows 16 jumps inside each other. */
const MAX_DEPTH = 16;

/**
 * Follows a packet through a base chain. An accept that may match makes all later drops uncertain. A drop that may match
 * does not: the packet does not pass in either case.
 */
export class Walk {
  readonly drops: Drop[] = [];
  readonly #table: WalkedTable;
  readonly #view: PacketView;
  readonly #budget: Budget;

  constructor(table: WalkedTable, view: PacketView, budget: Budget) {
    this.#table = table;
    this.#view = view;
    this.#budget = budget;
  }

  /** Returns what decides whether the packet comes to the policy. Undefined if it surely does not come to it. */
  async run(baseChain: string): Promise<readonly string[] | undefined> {
    const { returns, accepted } = await this.#chain(baseChain, [], 0);
    return returns ? accepted : undefined;
  }

  async #chain(chain: string, entry: readonly string[], depth: number): Promise<Passage> {
    const state = new ChainState();
    if (depth > MAX_DEPTH) {
      this.#budget.leaveOut(`more than ${MAX_DEPTH} jumps are inside each other`);
      return state.end('returns');
    }
    for (const rule of await this.#table.rules(chain)) {
      if (!(await this.#budget.takeRule())) return state.end('returns');
      for (const { effect, unknown } of await rule.effects(this.#view)) {
        const doubt = union(entry, state.accepted, state.left, unknown);
        const sub =
          effect.kind === 'jump' || effect.kind === 'goto'
            ? await this.#chain(effect.chain, doubt, depth + 1)
            : undefined;
        if (effect.kind === 'drop' || effect.kind === 'reject' || effect.kind === 'untrack') {
          this.drops.push({ chain, rule, verdict: effect.kind, unknown: doubt });
        }
        const end = state.apply(effect.kind, unknown, sub);
        if (end) return end;
      }
    }
    return state.end('returns');
  }
}

/** What may have happened to the packet in a chain so far. */
class ChainState {
  /** What decides whether a rule accepted the packet. */
  accepted: readonly string[] = [];
  /** What decides whether the packet left the chain by a return or a goto. */
  left: readonly string[] = [];
  #mayAccept = false;

  /** Returns how the packet leaves the chain, if it surely leaves it here. */
  apply(kind: Effect['kind'], unknown: readonly string[], sub: Passage | undefined): Passage | undefined {
    const isSure = unknown.length === 0;
    if (sub) this.#applyJump(unknown, sub);
    switch (kind) {
      case 'untrack':
        return undefined;
      case 'drop':
      case 'reject':
        return isSure ? this.end('dropped') : undefined;
      case 'accept':
        this.#mayAccept = true;
        if (isSure) return this.end('accepted');
        this.accepted = union(this.accepted, unknown);
        return undefined;
      case 'return':
        if (isSure) return this.end('returns');
        this.left = union(this.left, unknown);
        return undefined;
      case 'jump':
        return isSure && !sub?.returns ? this.end(sub?.mayAccept ? 'accepted' : 'dropped') : undefined;
      case 'goto':
        if (!isSure) this.left = union(this.left, unknown);
        else return this.end(sub?.returns ? 'returns' : sub?.mayAccept ? 'accepted' : 'dropped');
        return undefined;
    }
  }

  end(how: 'returns' | 'accepted' | 'dropped'): Passage {
    const returns = how === 'returns' || this.left.length > 0;
    // The packet comes back only if it left the chain before the rule that accepts it.
    const accepted = how === 'accepted' ? union(this.accepted, this.left) : this.accepted;
    return { returns, accepted, mayAccept: this.#mayAccept };
  }

  #applyJump(unknown: readonly string[], sub: Passage): void {
    if (!sub.mayAccept) return;
    this.#mayAccept = true;
    this.accepted = union(this.accepted, sub.accepted, unknown);
  }
}

function union(...lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())];
}
