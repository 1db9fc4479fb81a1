import type { Place } from '../../../../../explain/index.ts';
import type { Link, Picture, Share } from './model.ts';
import { percentRange } from './words.ts';

/** What the operator chose. Nothing chosen means everything. */
export interface Selection {
  readonly from?: Place | undefined;
  readonly to?: string | undefined;
}

export function isChosen({ from, to }: { readonly from?: Place; readonly to: string }, selection: Selection): boolean {
  const isFrom = selection.from === undefined || from === undefined || selection.from === from;
  return isFrom && (selection.to === undefined || selection.to === to);
}

/** The shares of chosen callers in a link. None if the link is not on a chosen way. */
export function chosenShares(link: Link, selection: Selection): readonly Share[] {
  return link.shares.filter(({ from }) => isChosen({ from, to: link.to }, selection));
}

/** `33 %`, or a range if the chosen ways differ. Undefined if no chosen way leads there, or only the kernel knows. */
export function oddsText(
  { links }: Pick<Picture, 'links'>,
  endpoint: string,
  selection: Selection,
): string | undefined {
  const shares = links.filter(link => link.endpoint === endpoint).flatMap(link => chosenShares(link, selection));
  return percentRange(shares.map(({ odds }) => odds));
}
