import type { Place } from '../../../../../explain/index.ts';
import { curve, type Point, type Rect } from './geometry.ts';
import { type End, endsBehind, type Link, MORE, type Picture, type Way } from './model.ts';
import { PLACES } from './words.ts';

/** A line from a caller to a frontend, or to the mark before it where the way ends. */
export interface PlacedWay {
  readonly way: Way;
  readonly path: string;
  /** The right end of the line. A label ends here. */
  readonly head: Point;
}

export interface PlacedLink {
  readonly link: Link;
  readonly path: string;
  /** The right end of the line. */
  readonly head: Point;
}

/** A way that ends behind its frontend. */
export interface PlacedEnd {
  readonly end: End;
  readonly to: string;
  readonly callers: readonly Place[];
  readonly path: string;
  /** Where the text begins. */
  readonly at: Point;
}

export interface PlacedPicture {
  readonly width: number;
  readonly height: number;
  readonly columns: { readonly callers: number; readonly frontends: number; readonly endpoints: number };
  readonly callers: ReadonlyMap<Place, Rect>;
  /** By id. */
  readonly frontends: ReadonlyMap<string, Rect>;
  /** By `ip:port`, and `MORE`. */
  readonly endpoints: ReadonlyMap<string, Rect>;
  readonly moreFrontends: Rect | undefined;
  readonly ways: readonly PlacedWay[];
  readonly links: readonly PlacedLink[];
  readonly ends: readonly PlacedEnd[];
  readonly guards: readonly PlacedGuard[];
}

/** Source ranges turn callers away that are not in them. The line comes from outside. */
export interface PlacedGuard {
  readonly to: string;
  readonly ranges: readonly string[];
  readonly path: string;
  readonly head: Point;
}

/** The narrowest picture. A narrower page shows a list. */
export const MIN_WIDTH = 900;
const MAX_WIDTH = 1280;
const HEAD = 28;
const ROW = 22;
const SIZES = {
  caller: { width: 132, height: 50, gap: 40 },
  frontend: { height: ROW * PLACES.length + 4, gap: 18 },
  endpoint: { height: 46, gap: 8 },
  more: 28,
};
/** How far before a frontend a way ends that is turned away there. */
const STOP = 12;
const STUB = 22;
/** Lines end straight, so that labels on them cover nothing else. */
const STRAIGHT = { way: 112, guard: 140, link: 92 };

/** Places everything in three columns. It knows no browser: sizes are in pixels. */
export function layoutPicture(picture: Picture, availableWidth: number): PlacedPicture {
  const width = Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, Math.floor(availableWidth)));
  const x = columnsOf(width);
  const heights = columnHeights(picture);
  const inner = Math.max(...Object.values(heights));
  const callers = placeColumn(PLACES, SIZES.caller, { ...x.callers, y: HEAD + (inner - heights.callers) / 2 });
  const frontendItems = picture.frontends.map(({ id }) => id);
  const frontendTop = HEAD + (inner - heights.frontends) / 2;
  const frontends = placeColumn(frontendItems, SIZES.frontend, { ...x.frontends, y: frontendTop });
  const endpointItems = picture.endpoints.map(({ detail }) => detail.address);
  const endpointTop = HEAD + (inner - heights.endpoints) / 2;
  const endpoints = placeColumn(endpointItems, SIZES.endpoint, { ...x.endpoints, y: endpointTop });
  const below = (top: number, height: number) => top + height - SIZES.more;
  if (picture.hiddenEndpoints > 0) {
    endpoints.set(MORE, { ...x.endpoints, y: below(endpointTop, heights.endpoints), height: SIZES.more });
  }
  return {
    width,
    height: HEAD + inner + SIZES.frontend.gap,
    columns: { callers: x.callers.x, frontends: x.frontends.x, endpoints: x.endpoints.x },
    callers,
    frontends,
    endpoints,
    moreFrontends:
      picture.hiddenFrontends > 0
        ? { ...x.frontends, y: below(frontendTop, heights.frontends), height: SIZES.more }
        : undefined,
    ways: picture.ways.flatMap(way => placeWay(way, callers, frontends)),
    links: picture.links.flatMap(link => placeLink(link, picture.ways, frontends, endpoints)),
    ends: picture.frontends.flatMap(({ id }) => placeEnds(id, picture.ways, frontends)),
    guards: picture.frontends.flatMap(({ id, detail }) => placeGuard(id, detail.sourceRanges, callers, frontends)),
  };
}

/** The two gaps between the columns have room for the labels of ways. */
function columnsOf(width: number) {
  const rest = width - SIZES.caller.width;
  const card = Math.floor(rest * 0.25);
  const gap = Math.floor(rest * 0.225);
  const frontends = { x: SIZES.caller.width + gap, width: card };
  const endpoints = { x: width - card - 1, width: card };
  return { callers: { x: 0, width: SIZES.caller.width }, frontends, endpoints };
}

function columnHeights({ frontends, hiddenFrontends, endpoints, hiddenEndpoints }: Picture) {
  const column = (count: number, { height, gap }: { height: number; gap: number }, hidden: number) =>
    count * (height + gap) - gap + (hidden > 0 ? gap + SIZES.more : 0);
  return {
    callers: column(PLACES.length, SIZES.caller, 0),
    frontends: column(frontends.length, SIZES.frontend, hiddenFrontends),
    endpoints: column(endpoints.length, SIZES.endpoint, hiddenEndpoints),
  };
}

function placeColumn<Key>(
  keys: readonly Key[],
  { height, gap }: { readonly height: number; readonly gap: number },
  { x, y, width }: { readonly x: number; readonly y: number; readonly width: number },
): Map<Key, Rect> {
  return new Map(keys.map((key, index) => [key, { x, y: Math.round(y + index * (height + gap)), width, height }]));
}

/** Every caller has its own row at the left side of a frontend, so that lines and labels do not meet. */
function rowY({ y, height }: Rect, place: Place): number {
  return y + (height / PLACES.length) * (PLACES.indexOf(place) + 0.5);
}

function placeWay(
  way: Way,
  callers: ReadonlyMap<Place, Rect>,
  frontends: ReadonlyMap<string, Rect>,
): readonly PlacedWay[] {
  const caller = callers.get(way.from);
  const frontend = frontends.get(way.to);
  if (!caller || !frontend) return [];
  const start = { x: caller.x + caller.width, y: caller.y + caller.height / 2 };
  const head = { x: frontend.x - (way.end?.at === 'before' ? STOP : 0), y: rowY(frontend, way.from) };
  return [{ way, path: curve(start, head, STRAIGHT.way), head }];
}

function placeLink(
  link: Link,
  ways: readonly Way[],
  frontends: ReadonlyMap<string, Rect>,
  endpoints: ReadonlyMap<string, Rect>,
): readonly PlacedLink[] {
  const frontend = frontends.get(link.to);
  const endpoint = endpoints.get(link.endpoint);
  if (!frontend || !endpoint) return [];
  const answered = ways.filter(({ to, end }) => to === link.to && !end).map(({ from }) => from);
  const start = { x: frontend.x + frontend.width, y: meanY(frontend, answered) };
  const head = { x: endpoint.x, y: endpoint.y + endpoint.height / 2 };
  return [{ link, path: curve(start, head, STRAIGHT.link), head }];
}

function placeEnds(id: string, ways: readonly Way[], frontends: ReadonlyMap<string, Rect>): readonly PlacedEnd[] {
  const frontend = frontends.get(id);
  if (!frontend) return [];
  return endsBehind(ways, id).map(({ callers, ...end }) => {
    const start = { x: frontend.x + frontend.width, y: meanY(frontend, callers) };
    const at = { x: start.x + STUB, y: start.y };
    return { end, to: id, callers, path: `M${start.x} ${start.y}H${at.x}`, at };
  });
}

/** Below the card: its rows are those of callers that the ranges let pass. */
function placeGuard(
  id: string,
  ranges: readonly string[] | undefined,
  callers: ReadonlyMap<Place, Rect>,
  frontends: ReadonlyMap<string, Rect>,
): readonly PlacedGuard[] {
  const caller = callers.get('outside');
  const frontend = frontends.get(id);
  if (!ranges || !caller || !frontend) return [];
  const start = { x: caller.x + caller.width, y: caller.y + caller.height / 2 };
  const head = { x: frontend.x - STOP, y: frontend.y + frontend.height + SIZES.frontend.gap / 2 };
  return [{ to: id, ranges, path: curve(start, head, STRAIGHT.guard), head }];
}

function meanY(frontend: Rect, places: readonly Place[]): number {
  const rows = (places.length === 0 ? PLACES : places).map(place => rowY(frontend, place));
  return rows.reduce((sum, y) => sum + y, 0) / rows.length;
}
