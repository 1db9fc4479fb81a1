import type { CardsProps } from './cards.tsx';
import { px } from './geometry.ts';
import type { Picture, Way } from './model.ts';
import { linkKey, type Observed, wayKey } from './observed.ts';
import { isChosen, oddsText } from './selection.ts';
import { isAtSocket } from './words.ts';

/** The labels on the lines: replaced sources, ends, odds and counts. */
export function Labels({ picture, placed, selection, observed }: CardsProps) {
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
          key={`${to} ${callers.join(' ')}`}
          class={`label end${off(callers.some(from => isChosen({ from, to }, selection)))}`}
          style={{ left: px(at.x), top: px(at.y) }}
          title={end.reason}
        >
          <b aria-hidden="true">✕</b> {end.text}
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
  const what =
    way.end?.at === 'before'
      ? way.end.text
      : [way.isGuarded && 'if allowed', isAtSocket(way.outcome) && 'at the socket', asNode].filter(Boolean).join(', ');
  const count = tally ? `×${tally.count}` : '';
  const lost = way.lost === 0 ? '' : `answers of ${way.lost} lost`;
  if (what === '' && lost === '' && count === '') return null;
  return (
    <span class={`label${isBefore || lost ? ' end' : ''}${off}`} style={style} title={way.end?.reason}>
      {(isBefore || lost) && <b aria-hidden="true">✕ </b>}
      {[what, lost, count].filter(text => text !== '').join(' ')}
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
