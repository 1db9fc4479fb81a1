import type { ServiceState } from '../../../inspect/index.ts';
import { stateWords } from './service-states.ts';

/** The state of a Service: a sign, a word and a colour. */
export function StateBadge({ state }: { readonly state: ServiceState }) {
  const { word, sign, tone, about } = stateWords(state);
  return (
    <span class={`badge ${tone}`} title={about}>
      <span aria-hidden="true">{sign}</span>
      {word}
    </span>
  );
}
