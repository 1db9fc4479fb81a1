import type { BatchError, Failure } from '../../../kernel/nftables/index.ts';
import type { PlanChange } from '../../plan-book.ts';
import { allElements, render } from '../render.ts';
import type { RenderContext } from '../table/shared-chains.ts';
import { chainIdentity, elementIdentity, setIdentity } from './use-counts.ts';

/** The changes whose objects the kernel refused; none if the kernel did not name an object of a change. */
export function refusedChanges(
  context: RenderContext,
  changes: readonly PlanChange[],
  { failures }: BatchError,
): readonly PlanChange[] {
  const refused = new Set(failures.flatMap(identities));
  return changes.filter(({ to }) => {
    if (!to) return false;
    const rendered = render(context, to);
    const { chains, sets } = rendered;
    return (
      [...allElements(rendered)].some(({ set, element }) => refused.has(elementIdentity(set, element.key))) ||
      chains.some(({ chain }) => refused.has(chainIdentity(chain.name))) ||
      sets.some(({ name }) => refused.has(setIdentity(name)))
    );
  });
}

function identities({ command: { object }, element }: Failure): string[] {
  switch (object.kind) {
    case 'elements':
      return element ? [elementIdentity(object.set, element.key)] : [];
    case 'chain':
      return [chainIdentity(object.name)];
    case 'rule':
    case 'rule-handle':
      return [chainIdentity(object.chain)];
    case 'set':
    case 'map':
      return [setIdentity(object.name)];
    case 'table':
      return [];
  }
}
