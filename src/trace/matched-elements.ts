import {
  dataSize,
  type Element,
  type Expression,
  type MetaKey,
  REG_VERDICT,
  type Register,
  type SetOrMap,
  wordOf,
} from '../kernel/nftables/index.ts';

/** A set or map that a rule looks keys up in. */
export interface MatchingSet {
  readonly set: SetOrMap;
  /** Reads one element. */
  element(key: Buffer): Element | undefined;
}

export interface MatchedElement {
  readonly set: SetOrMap;
  readonly element: Element;
}

/** The packet, and what earlier rules stored with it. */
export interface MatchState {
  readonly network: Buffer;
  readonly transport: Buffer;
  readonly protocol: number;
  /** Values that rules set and later rules load, such as the priority. */
  readonly meta: Map<MetaKey, Buffer>;
}

const WORD = 4;
const REGISTER_BYTES = 64;

/**
 * The elements of maps and sets that a rule found for a packet. It runs the rule as far as the packet's headers say what
 * the rule loads. What depends on chance, on routes or on the connection stays unknown, and so does every key that
 * contains it.
 */
export function matchedElements(
  expressions: readonly Expression[],
  state: MatchState,
  setNamed: (name: string) => MatchingSet | undefined,
): readonly MatchedElement[] {
  const registers = new Registers();
  const matched: MatchedElement[] = [];
  for (const expression of expressions) {
    switch (expression.kind) {
      case 'payload':
        registers.store(expression.dreg, payloadBytes(expression.base, expression.offset, expression.len, state));
        break;
      case 'meta':
        registers.store(expression.dreg, metaBytes(expression.key, state));
        break;
      case 'immediate':
        registers.store(expression.dreg, expression.data);
        break;
      case 'meta-set':
        setMeta(state, expression.key, registers.load(expression.sreg, WORD));
        break;
      case 'lookup': {
        const found = lookUp(registers, expression.sreg, setNamed(expression.set));
        if (found) matched.push(found);
        const { dreg } = expression;
        if (dreg !== undefined && dreg !== REG_VERDICT) registers.store(dreg, found?.element.data);
        break;
      }
      default:
        if ('dreg' in expression && typeof expression.dreg === 'number') registers.forget(expression.dreg);
    }
  }
  return matched;
}

function lookUp(registers: Registers, sreg: Register, named: MatchingSet | undefined): MatchedElement | undefined {
  const key = named && registers.load(sreg, dataSize(named.set.type));
  const element = key && named.element(key);
  return element && { set: named.set, element };
}

function payloadBytes(base: string, offset: number, length: number, state: MatchState): Buffer | undefined {
  const header = base === 'network' ? state.network : base === 'transport' ? state.transport : undefined;
  return header && header.length >= offset + length ? header.subarray(offset, offset + length) : undefined;
}

function metaBytes(key: MetaKey, state: MatchState): Buffer | undefined {
  return key === 'l4proto' ? Buffer.of(state.protocol) : state.meta.get(key);
}

function setMeta({ meta }: MatchState, key: MetaKey, value: Buffer | undefined): void {
  if (value) meta.set(key, value);
  else meta.delete(key);
}

/** The registers of nf_tables, with the words that are known. */
class Registers {
  readonly #bytes = Buffer.alloc(REGISTER_BYTES);
  readonly #known = new Set<number>();

  store(register: Register, value: Buffer | undefined): void {
    this.forget(register);
    const first = wordOf(register);
    if (!value || first === undefined || first * WORD + value.length > REGISTER_BYTES) return;
    const end = first + Math.ceil(value.length / WORD);
    this.#bytes.fill(0, first * WORD, end * WORD);
    value.copy(this.#bytes, first * WORD);
    for (let word = first; word < end; word++) this.#known.add(word);
  }

  /** The value's length is not known either, so this forgets the longest one. */
  forget(register: Register): void {
    const first = wordOf(register);
    if (first === undefined) return;
    for (let word = first; word < first + WORD; word++) this.#known.delete(word);
  }

  load(register: Register, length: number): Buffer | undefined {
    const first = wordOf(register);
    if (first === undefined || length === 0) return undefined;
    for (let word = first; word < first + Math.ceil(length / WORD); word++) {
      if (!this.#known.has(word)) return undefined;
    }
    return Buffer.from(this.#bytes.subarray(first * WORD, first * WORD + length));
  }
}
