import type { Place } from '../../../../../explain/index.ts';
import { EndpointCard } from './endpoint-card.tsx';
import { FrontendCard } from './frontend-card.tsx';
import { type PlacedPicture, px, rectStyle } from './layout.ts';
import { isChosen, MORE, oddsText, type Picture, type Selection, type Way } from './model.ts';
import { linkKey, type Observed, wayKey } from './observed.ts';
import type { PictureViewProps } from './picture-view.tsx';
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
      <h3 class="column" style={{ left: px(placed.columns.callers) }}>
        Callers
      </h3>
      <h3 class="column" style={{ left: px(placed.columns.frontends) }}>
        Addresses
      </h3>
      <h3 class="column" style={{ left: px(placed.columns.endpoints) }}>
        Endpoints
        {picture.hiddenEndpoints === 0 && port.endpoints.length > 0 && (
          <span class="quiet"> {`${used} of ${port.endpoints.length} used`}</span>
        )}
      </h3>
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

function Labels({ picture, placed, selection, observed }: CardsProps) {
  const hasSelection = selection.from !== undefined || selection.to !== undefined;
  const off = (isOn: boolean) => (hasSelection && !isOn ? ' off' : '');
  return (
    <>
      {placed.ways.map(({ way, head }) => (
        <WayLabel
          key={wayKey(way.from, way.to)}
          way={way}
          observed={observed}
          off={off(isChosen(way, selection))}
          style={{ right: px(placed.width - head.x + (way.end?.at === 'before' ? 0 : 10)), top: px(head.y) }}
        />
      ))}
      {placed.guards.map(({ to, ranges, head }) => (
        <span
          key={to}
          class={`label end${off(isChosen({ from: 'outside', to }, selection))}`}
          style={{ right: px(placed.width - head.x), top: px(head.y) }}
          title={`Callers that are not in ${ranges.join(', ')} get no answer.`}
        >
          <b aria-hidden="true">✕</b> silent: source ranges
        </span>
      ))}
      {placed.ends.map(({ end, to, callers, at }) => (
        <span
          key={`${to} ${end.text}`}
          class={`label end${off(callers.some(from => isChosen({ from, to }, selection)))}`}
          style={{ left: px(at.x), top: px(at.y) }}
          title={end.reason}
        >
          <b aria-hidden="true">✕</b> {callers.length < PLACES.length && `${callerNames(callers)} `}
          {end.text}
        </span>
      ))}
      {[...placed.endpoints].map(([endpoint, rect]) => (
        <OddsLabel
          key={endpoint}
          text={oddsText(picture, endpoint, selection)}
          count={countOf(observed, picture, endpoint)}
          style={{ right: px(placed.width - rect.x + 10), top: px(rect.y + rect.height / 2) }}
        />
      ))}
    </>
  );
}

function callerNames(callers: readonly Place[]): string {
  return callers.map(place => CALLER_WORDS[place].title.toLowerCase()).join(', ');
}

type LabelStyle = Readonly<Record<string, string>>;

interface WayLabelProps {
  readonly way: Way;
  readonly observed: Observed;
  readonly off: string;
  readonly style: LabelStyle;
}

function WayLabel({ way, observed, off, style }: WayLabelProps) {
  const tally = observed.ways.get(wayKey(way.from, way.to));
  const isBefore = way.end?.at === 'before';
  const asNode = way.asNode === 'none' ? '' : way.asNode === 'all' ? 'as the node' : 'partly as the node';
  const count = tally ? `×${tally.count}` : '';
  if (!isBefore && asNode === '' && count === '') return null;
  return (
    <span class={`label${isBefore ? ' end' : ''}${off}`} style={style} title={way.end?.reason}>
      {isBefore && <b aria-hidden="true">✕ </b>}
      {[isBefore ? way.end?.text : asNode, count].filter(text => text !== '').join(' ')}
      {tally && tally.unplanned > 0 && (
        <b class="unplanned" title={`${tally.unplanned} not as planned`}>{` ✕${tally.unplanned}`}</b>
      )}
    </span>
  );
}

interface OddsLabelProps {
  readonly text: string | undefined;
  readonly count: number;
  readonly style: LabelStyle;
}

function OddsLabel({ text, count, style }: OddsLabelProps) {
  if (text === undefined && count === 0) return null;
  return (
    <span class="label odds" style={style}>
      {text}
      {count > 0 && <i class="count">{` ×${count}`}</i>}
    </span>
  );
}

function countOf({ links }: Observed, { frontends }: Picture, endpoint: string): number {
  return frontends.reduce((sum, { id }) => sum + (links.get(linkKey(id, endpoint)) ?? 0), 0);
}
