import type { Place } from '../../../../../explain/index.ts';
import { EndpointCard } from './endpoint-card.tsx';
import { FrontendCard } from './frontend-card.tsx';
import { px, rectStyle } from './geometry.ts';
import { Labels } from './labels.tsx';
import type { PlacedPicture } from './layout.ts';
import { MORE, type Picture } from './model.ts';
import type { Observed } from './observed.ts';
import type { PictureViewProps } from './picture-view.tsx';
import { isChosen, type Selection } from './selection.ts';
import { CALLER_WORDS, PLACES } from './words.ts';

export interface CardsProps extends PictureViewProps {
  readonly picture: Picture;
  readonly placed: PlacedPicture;
  readonly observed: Observed;
}

/** The cards of the three columns, and the labels on the lines between them. */
export function Cards(props: CardsProps) {
  const { picture, placed, selection, onSelect, port } = props;
  const toggleTo = (id: string) => onSelect({ ...selection, to: selection.to === id ? undefined : id });
  const used = picture.endpoints.filter(({ isUsed }) => isUsed).length;
  return (
    <>
      <h2 class="column" style={{ left: px(placed.columns.callers) }}>
        Callers
      </h2>
      <h2 class="column" style={{ left: px(placed.columns.frontends) }}>
        Addresses
      </h2>
      <h2 class="column" style={{ left: px(placed.columns.endpoints) }}>
        Endpoints
        {picture.hiddenEndpoints === 0 && port.endpoints.length > 0 && (
          <span class="quiet"> {`${used} of ${port.endpoints.length} used`}</span>
        )}
      </h2>
      {PLACES.map(place => (
        <CallerCard key={place} place={place} {...props} />
      ))}
      {picture.frontends.map(({ id, detail }) => (
        <FrontendCard
          key={id}
          id={id}
          detail={detail}
          port={port}
          rect={placed.frontends.get(id)}
          isPressed={selection.to === id}
          isOff={selection.to !== undefined && selection.to !== id}
          onToggle={() => toggleTo(id)}
        />
      ))}
      <MoreFrontends {...props} />
      {picture.endpoints.map(({ detail, isUsed }) => (
        <EndpointCard
          key={detail.address}
          detail={detail}
          isUsed={isUsed}
          isOff={isUsed && !isReached(picture, detail.address, selection)}
          rect={placed.endpoints.get(detail.address)}
        />
      ))}
      {port.endpoints.length === 0 && (
        <p class="no-endpoints quiet" style={{ left: px(placed.columns.endpoints) }}>
          No endpoint. Pods that match the selector and are ready would be here.
        </p>
      )}
      <MoreEndpoints {...props} />
      <Labels {...props} />
    </>
  );
}

function isReached({ links }: Picture, endpoint: string, selection: Selection): boolean {
  return links.some(
    link => link.endpoint === endpoint && link.shares.some(({ from }) => isChosen({ from, to: link.to }, selection)),
  );
}

function CallerCard({ place, placed, selection, onSelect }: CardsProps & { readonly place: Place }) {
  const { title, about } = CALLER_WORDS[place];
  const isPressed = selection.from === place;
  const isOff = selection.from !== undefined && !isPressed;
  return (
    <button
      type="button"
      class={`card caller${isOff ? ' off' : ''}`}
      data-caller={place}
      aria-pressed={isPressed}
      style={rectStyle(placed.callers.get(place))}
      onClick={() => onSelect({ ...selection, from: isPressed ? undefined : place })}
    >
      <strong>{title}</strong>
      <span class="quiet">{about}</span>
    </button>
  );
}

function MoreFrontends({ picture: { hiddenFrontends }, placed, onShowFrontends }: CardsProps) {
  if (!placed.moreFrontends) return null;
  return (
    <button type="button" class="card more" style={rectStyle(placed.moreFrontends)} onClick={onShowFrontends}>
      {`${hiddenFrontends} more addresses`}
    </button>
  );
}

function MoreEndpoints({ picture: { hiddenEndpoints }, placed, onShowEndpoints }: CardsProps) {
  const rect = placed.endpoints.get(MORE);
  if (!rect) return null;
  return (
    <button type="button" class="card more" style={rectStyle(rect)} onClick={onShowEndpoints}>
      {`${hiddenEndpoints.toLocaleString('en')} more endpoints`}
    </button>
  );
}
