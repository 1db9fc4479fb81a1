import { type Element, type SetOrMap, Transaction } from '../../../kernel/nftables/index.ts';
import type { ServicePortPlan } from '../../../plan/index.ts';
import { allElements, render } from '../render.ts';
import { TABLE } from '../table/layout.ts';
import type { RenderContext } from '../table/shared-chains.ts';
import { type Snapshot, valueText } from './snapshot.ts';
import { elementIdentity } from './use-counts.ts';

/** The transaction that gives some sets exactly the elements that the plans want. */
export function prepareElementRepair(
  context: RenderContext,
  plans: Iterable<ServicePortPlan>,
  elements: Snapshot['elements'],
): Transaction {
  const missing = new Map<string, { readonly set: SetOrMap; readonly element: Element; readonly isWrong: boolean }>();
  for (const plan of plans) {
    for (const { set, element } of allElements(render(context, plan))) {
      const listed = elements.get(set.name);
      if (!listed) continue;
      const value = listed.value(element);
      listed.markWanted(element);
      if (value === valueText(element)) continue;
      missing.set(elementIdentity(set, element.key), { set, element, isWrong: value !== undefined });
    }
  }
  const transaction = new Transaction(context.layout.nft, TABLE);
  for (const listed of elements.values()) transaction.deleteElements(listed.set, [...listed.leftovers()]);
  for (const { set, element, isWrong } of missing.values()) if (isWrong) transaction.deleteElements(set, [element]);
  for (const { set, element } of missing.values()) transaction.addElements(set, [element]);
  return transaction;
}
