import { type Expression, REG_VERDICT, type Rule, type Verdict } from '../../kernel/nftables/index.ts';
import { type Answer, compareBytes, invert, isInRange, knownBytes, maskBytes, unknownBytes } from './known-bytes.ts';
import { type Loaded, loadConnection, loadFib, loadMeta, loadPayload, shiftBytes, swapBytes } from './nft-fields.ts';
import { Registers } from './nft-registers.ts';
import type { TableSets } from './nft-sets.ts';
import type { PacketView } from './packet-view.ts';
import type { Effect, PossibleEffect } from './walk.ts';

type Kind<K extends Expression['kind']> = Extract<Expression, { kind: K }>;

/** What the rule does with the packet. The kernel runs the expressions in order, until one of them ends the rule. */
export async function evaluateNftRule(
  rule: Rule,
  view: PacketView,
  sets: TableSets,
): Promise<readonly PossibleEffect[]> {
  const run = new RuleRun(view, sets);
  for (const expression of rule.expressions) {
    const end = await run.step(expression);
    if (end) return [...run.untracked, ...end];
  }
  return run.untracked;
}

/** A rule while it is evaluated. `step` returns what the rule does, if the expression ends it. */
class RuleRun {
  readonly #view: PacketView;
  readonly #sets: TableSets;
  readonly #registers = new Registers();
  #unknown: readonly string[] = [];
  #untracked: readonly PossibleEffect[] = [];

  constructor(view: PacketView, sets: TableSets) {
    this.#view = view;
    this.#sets = sets;
  }

  /** What the rule did before its end. */
  get untracked(): readonly PossibleEffect[] {
    return this.#untracked;
  }

  async step(expression: Expression): Promise<readonly PossibleEffect[] | undefined> {
    switch (expression.kind) {
      case 'cmp':
      case 'range':
        return this.#match(expression);
      case 'lookup':
        return this.#lookUp(expression);
      case 'verdict':
        return this.#end(effectOf(expression.verdict));
      case 'reject':
        return this.#end({ kind: 'reject' });
      case 'nat':
      case 'masquerade':
      case 'redirect':
        return this.#end({ kind: 'accept' });
      case 'limit':
      case 'quota':
        return this.#doubt(['rate of packets']);
      case 'connlimit':
        return this.#doubt(['number of connections']);
      case 'notrack':
        // Later it has no effect.
        if (!this.#view.isTracked) this.#untracked = this.#end({ kind: 'untrack' });
        return undefined;
      case 'unknown':
        return this.#unknownExpression(expression.name);
      case 'counter':
      case 'log':
      case 'ct-set':
      case 'meta-set':
      case 'payload-write':
      case 'dynset':
      case 'objref':
      case 'objref-map':
        return undefined;
      default:
        return this.#load(expression);
    }
  }

  #load(expression: Load): readonly PossibleEffect[] | undefined {
    const loaded = loadedBy(expression, this.#view, this.#registers);
    if (loaded === 'none') return [];
    this.#registers.store(expression.dreg, loaded);
    return undefined;
  }

  #match(expression: Kind<'cmp'> | Kind<'range'>): readonly PossibleEffect[] | undefined {
    if (expression.kind === 'cmp') {
      const value = this.#registers.load(expression.sreg, expression.data.length);
      return this.#answer(compareBytes(expression.op, value, expression.data), value.unknown);
    }
    const value = this.#registers.load(expression.sreg, expression.from.length);
    const inside = isInRange(value, expression.from, expression.to);
    return this.#answer(expression.op === 'eq' ? inside : invert(inside), value.unknown);
  }

  async #lookUp({ set, sreg, dreg, inverted }: Kind<'lookup'>): Promise<readonly PossibleEffect[] | undefined> {
    const { answer, elements, unknown } = await this.#sets.find(set, length => this.#registers.load(sreg, length));
    if (dreg === undefined) return this.#answer(inverted ? invert(answer) : answer, unknown);
    if (answer === 'no') return [];
    if (dreg === REG_VERDICT) {
      return elements.flatMap(({ element, isSure }) => {
        const reasons = isSure ? this.#unknown : [...this.#unknown, ...unknown];
        return element.verdict ? possible(effectOf(element.verdict), reasons) : [];
      });
    }
    const data = answer === 'yes' ? elements[0]?.element.data : undefined;
    this.#registers.store(dreg, data ? knownBytes(data) : unknownBytes(16, unknown[0] ?? `value in ${set}`));
    return answer === 'yes' ? undefined : this.#doubt(unknown);
  }

  /** An expression that is not decoded. A queue gives the packet to a program, which may drop it. */
  #unknownExpression(name: string): readonly PossibleEffect[] | undefined {
    // It only notes when the rule was used last.
    if (name === 'last') return undefined;
    const reason = name === 'queue' ? 'verdict of the program that reads the queue' : `expression ${name}`;
    this.#registers.clear(reason);
    this.#doubt([reason]);
    return name === 'queue' || name === 'target' ? this.#end({ kind: 'drop' }) : undefined;
  }

  #answer(answer: Answer, unknown: readonly string[]): readonly PossibleEffect[] | undefined {
    if (answer === 'no') return [];
    return answer === 'unknown' ? this.#doubt(unknown) : undefined;
  }

  #doubt(reasons: readonly string[]): undefined {
    this.#unknown = [...new Set([...this.#unknown, ...reasons])];
  }

  #end(effect: Effect | undefined): readonly PossibleEffect[] {
    return possible(effect, this.#unknown);
  }
}

type Load = Extract<Expression, { readonly dreg: number }> & { kind: Exclude<Expression['kind'], 'lookup'> };

function loadedBy(expression: Load, view: PacketView, registers: Registers): Loaded {
  switch (expression.kind) {
    case 'payload':
      return loadPayload(view, expression);
    case 'meta':
      return loadMeta(view, expression);
    case 'ct':
      return loadConnection(view, expression);
    case 'fib':
      return loadFib(view, expression);
    case 'immediate':
      return knownBytes(expression.data);
    case 'bitwise':
      return maskBytes(registers.load(expression.sreg, expression.mask.length), expression.mask, expression.xor);
    case 'shift':
      return shiftBytes(registers.load(expression.sreg, expression.len), expression);
    case 'byteorder':
      return swapBytes(registers.load(expression.sreg, expression.len), expression.size);
    case 'socket':
      return unknownBytes(4, 'socket that receives the packet');
    case 'numgen':
      return unknownBytes(4, 'random number');
    case 'jhash':
    case 'symhash':
      return unknownBytes(4, 'hash of the packet');
  }
}

function effectOf(verdict: Verdict): Effect | undefined {
  if (verdict.kind === 'continue') return undefined;
  return 'chain' in verdict ? verdict : { kind: verdict.kind };
}

function possible(effect: Effect | undefined, unknown: readonly string[]): readonly PossibleEffect[] {
  return effect ? [{ effect, unknown: [...new Set(unknown)] }] : [];
}
