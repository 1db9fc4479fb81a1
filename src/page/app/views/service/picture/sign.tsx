import type { Outcome } from '../../../../../explain/index.ts';
import { outcomeSign } from './words.ts';

export function Sign({ outcome }: { readonly outcome: Outcome }) {
  const { sign, tone } = outcomeSign(outcome);
  return (
    <span class={tone} aria-hidden="true">
      {sign}
    </span>
  );
}
