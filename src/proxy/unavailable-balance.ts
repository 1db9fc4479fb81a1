import { ANNOTATION_BALANCE, type ObjectMeta, objectKey } from '../api/index.ts';
import type { Problem } from '../lib/problem.ts';
import type { Algorithm } from '../model/index.ts';
import { type ConfiguredMode, usualChoice } from '../modes/index.ts';

/** What the words about a mode need to know of it. */
export type BalancingMode = Pick<ConfiguredMode, 'descriptor' | 'behaviour'>;

/** The problem of a Service that asks for an algorithm which the mode does not have. */
export function unavailableBalance(
  service: ObjectMeta,
  wanted: Algorithm | undefined,
  mode: BalancingMode,
): Problem | undefined {
  if (wanted === undefined || mode.descriptor.algorithms.includes(wanted)) return undefined;
  return {
    kind: 'Service',
    reason: 'unavailable',
    object: `Service ${objectKey(service)}`,
    field: `metadata.annotations[${ANNOTATION_BALANCE}]`,
    message: `${wanted} is not available in ${instead(mode)}`,
  };
}

/** What the operator should know about `--default-balance`. Undefined if it has an effect. */
export function unavailableDefault(wanted: Algorithm | undefined, mode: BalancingMode): string | undefined {
  if (wanted === undefined || mode.descriptor.algorithms.includes(wanted)) return undefined;
  return `--default-balance ${wanted} has no effect in ${instead(mode)}`;
}

function instead({ descriptor: { name, algorithms }, behaviour: { choice } }: BalancingMode): string {
  return `${name} mode, which chooses ${usualChoice(choice)} instead; this mode has ${algorithms.join(', ')}`;
}
