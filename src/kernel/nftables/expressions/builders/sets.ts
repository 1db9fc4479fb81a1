import type { Expression } from '../expression.ts';
import { REG_VERDICT, registerAt, wordOf, wordsFor } from '../registers.ts';
import { concat, concatBytes, REG_1, type Selector } from './selector.ts';
import { type SetReference, setFields } from './set-reference.ts';

/** `ip saddr . tcp dport @set`, or with `neq` `!= @set`. */
export function matchSet(key: readonly Selector[], set: SetReference, op: 'eq' | 'neq' = 'eq'): Expression[] {
  return [...concat(key), { kind: 'lookup', ...setFields(set), sreg: REG_1, ...(op === 'neq' && { inverted: true }) }];
}

/** `ip daddr . meta l4proto . th dport vmap @services`: executes the verdict, or continues if there is none. */
export function vmap(key: readonly Selector[], name: SetReference): Expression[] {
  return [...concat(key), { kind: 'lookup', ...setFields(name), sreg: REG_1, dreg: REG_VERDICT }];
}

export interface ElementOptions {
  /** Only for maps: the data for the key. */
  readonly data?: readonly Selector[];
  /** In milliseconds. By default the timeout of the set. */
  readonly timeout?: number;
}

/** `update @affinity { ip saddr timeout 3h }`: restarts the timeout of an existing element. */
export function updateElement(set: SetReference, key: readonly Selector[], options: ElementOptions = {}): Expression[] {
  return changeElement('update', set, key, options);
}

/** `add @affinity { ip saddr }`: does not change an existing element. */
export function addElement(set: SetReference, key: readonly Selector[], options: ElementOptions = {}): Expression[] {
  return changeElement('add', set, key, options);
}

/** `delete @affinity { ip saddr }`. */
export function deleteElement(set: SetReference, key: readonly Selector[]): Expression[] {
  return changeElement('delete', set, key, {});
}

function changeElement(
  op: 'add' | 'update' | 'delete',
  set: SetReference,
  key: readonly Selector[],
  { data, timeout }: ElementOptions,
): Expression[] {
  // nft loads data into the next register of sixteen bytes, and expects the key to end before it when it prints a rule.
  const words = (wordOf(REG_1) ?? 0) + wordsFor(concatBytes(key));
  const sregData = registerAt(Math.ceil(words / 4) * 4);
  return [
    ...concat(key),
    ...(data ? concat(data, sregData) : []),
    {
      kind: 'dynset',
      op,
      ...setFields(set),
      sregKey: REG_1,
      ...(data && { sregData }),
      ...(timeout !== undefined && { timeout: BigInt(timeout) }),
    },
  ];
}
