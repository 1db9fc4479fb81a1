import type { PortDetail } from '../../../../../inspect/index.ts';
import { FRONTEND_WORDS } from '../../../parts/texts.ts';
import { frontendNotes } from './frontend-card.tsx';
import { groupWays } from './group-ways.ts';
import type { Picture } from './model.ts';
import type { Selection } from './selection.ts';
import { Sign } from './sign.tsx';
import { callersText } from './words.ts';

interface WayListProps {
  readonly picture: Picture;
  readonly port: PortDetail;
  /** Otherwise only screen readers have it, beside the picture. */
  readonly isShown: boolean;
  readonly selection: Selection;
  readonly onSelect: (selection: Selection) => void;
}

/** The facts of the picture as a list: each address, and what each caller gets there. */
export function WayList({ picture, port, isShown, selection }: WayListProps) {
  return (
    <ul class={isShown ? 'way-list' : 'spoken'} aria-label="The ways in words">
      {picture.frontends.map(({ id, detail }) => (
        <li key={id} class={selection.to === id ? 'on' : ''}>
          <p>
            <span class="quiet">{FRONTEND_WORDS[detail.kind]}</span> <strong class="mono">{id}</strong>{' '}
            <span class="badge">{detail.policy}</span>
          </p>
          <p class="quiet">{frontendNotes(detail, port)}</p>
          <ul>
            {groupWays(picture.ways.filter(({ to }) => to === id)).map(({ callers, text, outcome }) => (
              <li key={text}>
                <Sign outcome={outcome} />
                <span>
                  A connection from <strong>{callersText(callers)}</strong> {text}.
                </span>
              </li>
            ))}
            {detail.sourceRanges && (
              <li>
                <span class="bad" aria-hidden="true">
                  ✕
                </span>
                <span>A connection from a source that is not in these ranges gets no answer.</span>
              </li>
            )}
          </ul>
        </li>
      ))}
    </ul>
  );
}
