import type { BatchError, Failure } from '../../kernel/nftables/index.ts';
import type { PlanChange } from './diff.ts';
import { elementIdentity } from './ledger.ts';
import { render } from './render.ts';
import type { RenderContext } from './shared-chains.ts';

/** The changes whose objects the kernel refused, by id; empty if it cannot be told. */
export function culprits(
  context: RenderContext,
  changes: readonly PlanChange[],
  { failures }: BatchError,
): ReadonlySet<string> {
  const refused = new Set(failures.flatMap(identities));
  const guilty = new Set<string>();
  for (const { id, to } of changes) {
    if (!to) continue;
    const { chains, sets, elements } = render(context, to);
    const isRefused =
      elements.some(({ set, element }) => refused.has(elementIdentity(set, element.key))) ||
      chains.some(({ chain }) => refused.has(`chain ${chain.name}`)) ||
      sets.some(({ name }) => refused.has(`set ${name}`));
    if (isRefused) guilty.add(id);
  }
  return guilty;
}

function identities({ command: { object }, element }: Failure): string[] {
  switch (object.kind) {
    case 'elements':
      return element ? [elementIdentity(object.set, element.key)] : [];
    case 'chain':
      return [`chain ${object.name}`];
    case 'rule':
    case 'rule-handle':
      return [`chain ${object.chain}`];
    case 'set':
    case 'map':
      return [`set ${object.name}`];
    case 'table':
      return [];
  }
}
