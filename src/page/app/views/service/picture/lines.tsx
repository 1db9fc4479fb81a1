import type { Point } from './geometry.ts';
import type { PlacedLink, PlacedPicture, PlacedWay } from './layout.ts';
import type { Observed } from './observed.ts';
import { chosenShares, isChosen, type Selection } from './selection.ts';

interface LinesProps {
  readonly placed: PlacedPicture;
  readonly selection: Selection;
  readonly observed: Observed;
}

/** The lines of the picture. Cards and labels are HTML above them. */
export function Lines({ placed, selection, observed }: LinesProps) {
  const { width, height, ways, links, ends, guards } = placed;
  const hasSelection = selection.from !== undefined || selection.to !== undefined;
  // What is chosen lies above the rest.
  const sortedLinks = [...links].sort(
    (a, b) => chosenShares(a.link, selection).length - chosenShares(b.link, selection).length,
  );
  const sortedWays = [...ways].sort((a, b) => Number(isChosen(a.way, selection)) - Number(isChosen(b.way, selection)));
  const tone = (isOn: boolean) => (hasSelection ? (isOn ? ' on' : ' off') : '');
  return (
    <>
      <svg
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-labelledby="way-title way-about"
      >
        <title id="way-title">The way of connections to this Service</title>
        <desc id="way-about">
          Lines lead from callers through the addresses of the Service to its endpoints. The list below says the same.
        </desc>
        {sortedLinks.map(each => (
          <LinkLine key={`${each.link.to} ${each.link.endpoint}`} placed={each} selection={selection} tone={tone} />
        ))}
        {ends.map(({ path, to, callers }) => {
          const isOn = callers.some(from => isChosen({ from, to }, selection));
          return <path key={`${to} ${callers.join(' ')}`} d={path} class={`line bad${tone(isOn)}`} />;
        })}
        {guards.map(({ to, path }) => (
          <path key={to} d={path} class={`line bad${tone(isChosen({ from: 'outside', to }, selection))}`} />
        ))}
        {sortedWays.map(each => (
          <WayLine key={`${each.way.from} ${each.way.to}`} placed={each} tone={tone(isChosen(each.way, selection))} />
        ))}
      </svg>
      <Dots placed={placed} observed={observed} />
    </>
  );
}

function WayLine({ placed: { way, path, head }, tone }: { readonly placed: PlacedWay; readonly tone: string }) {
  const kind = way.end ? ' bad' : '';
  return (
    <g class={`line${kind}${tone}`}>
      <path d={path} />
      {way.end?.at !== 'before' && <path class="arrow" d={arrowAt(head)} />}
    </g>
  );
}

interface LinkLineProps {
  readonly placed: PlacedLink;
  readonly selection: Selection;
  readonly tone: (isOn: boolean) => string;
}

function LinkLine({ placed: { link, path, head }, selection, tone }: LinkLineProps) {
  const shares = chosenShares(link, selection);
  const isLost = shares.length > 0 && shares.every(share => share.isLost);
  return (
    <g class={`line${isLost ? ' bad' : ''}${tone(shares.length > 0)}`}>
      <path d={path} />
      <path class="arrow" d={arrowAt(head)} />
    </g>
  );
}

function arrowAt({ x, y }: Point): string {
  return `M${x - 7} ${y - 4}L${x} ${y}L${x - 7} ${y + 4}Z`;
}

/** Nobody can follow more dots than this. */
const MAX_DOTS = 40;

/** A short moving dot for each connection of the last event. A new event draws new dots. */
function Dots({ placed, observed: { moving, round } }: Pick<LinesProps, 'placed' | 'observed'>) {
  return (
    <div class="dots" aria-hidden="true" key={round}>
      {moving.slice(0, MAX_DOTS).flatMap(({ from, to, endpoint }, index) => {
        const way = placed.ways.find(each => each.way.from === from && each.way.to === to);
        const link = placed.links.find(each => each.link.to === to && each.link.endpoint === endpoint);
        const delay = `${(index % 8) * 60}ms`;
        return [
          way && (
            <i key={`${index} in`} class="dot" style={{ offsetPath: `path("${way.path}")`, animationDelay: delay }} />
          ),
          link && <i key={`${index} out`} class="dot second" style={{ offsetPath: `path("${link.path}")` }} />,
        ];
      })}
    </div>
  );
}
