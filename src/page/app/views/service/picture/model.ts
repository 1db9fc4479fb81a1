import type { Outcome, Place } from '../../../../../explain/index.ts';
import type { EndpointDetail, FrontendDetail, PortDetail } from '../../../../../inspect/index.ts';
import { hostPort } from '../../../parts/texts.ts';
import { endText, PLACES, seenAsNode } from './words.ts';

/** The way of one caller to one frontend, and what it gets there. */
export interface Way {
  readonly from: Place;
  /** The id of a frontend. */
  readonly to: string;
  readonly outcome: Outcome;
  /** How many endpoints answer. The outcome has only the first ones. */
  readonly answering: number;
  /** The source is replaced by the node's. The node's own connections have it anyway. */
  readonly asNode: 'all' | 'some' | 'none';
  /** How many endpoints get connections although their answers do not reach the caller. */
  readonly lost: number;
  /** Only if source ranges allow the caller, whose address is not known. */
  readonly isGuarded: boolean;
  readonly end?: End | undefined;
}

/** Where a way ends without an answer. */
export interface End {
  /** `refused: no endpoints` */
  readonly text: string;
  readonly reason: string;
  readonly kind: Exclude<Outcome['kind'], 'answered'>;
  /** Before the frontend, because rules turn the caller away there; or behind it, because nothing serves it. */
  readonly at: 'before' | 'behind';
}

export interface FrontendItem {
  readonly id: string;
  readonly detail: FrontendDetail;
}

export interface EndpointItem {
  readonly detail: EndpointDetail;
  /** A way leads to it, or would if it were not only one of very many. */
  readonly isUsed: boolean;
}

/** The ways from a frontend to an endpoint. */
export interface Link {
  readonly to: string;
  /** `ip:port`, or `MORE` for all endpoints that the picture leaves out. */
  readonly endpoint: string;
  readonly shares: readonly Share[];
}

/** How a caller reaches the endpoint of a link. */
export interface Share {
  readonly from: Place;
  readonly odds: number | undefined;
  /** The endpoint gets the connection, but its answer does not reach the caller. */
  readonly isLost: boolean;
}

export interface Picture {
  readonly frontends: readonly FrontendItem[];
  readonly hiddenFrontends: number;
  readonly endpoints: readonly EndpointItem[];
  readonly hiddenEndpoints: number;
  readonly ways: readonly Way[];
  readonly links: readonly Link[];
}

export interface PictureLimits {
  readonly frontends: number;
  readonly endpoints: number;
}

export const LIMITS: PictureLimits = { frontends: 6, endpoints: 12 };

/** The endpoint of links that lead to endpoints that the picture leaves out. */
export const MORE = 'more';

const ENDS_BEHIND: ReadonlySet<string> = new Set(['no-endpoints', 'no-local-endpoints', 'answers-bypass-node']);

/** `10.96.0.10:80`, and `30080` for a node port. It is in the address of the page. */
export function frontendId({ address, port }: Pick<FrontendDetail, 'address' | 'port'>): string {
  return address === undefined ? String(port) : hostPort(address, port);
}

export type PicturedPort = Pick<PortDetail, 'frontends' | 'endpoints' | 'endpointCount'>;

/** The picture of one port in one family. */
export function pictureOf(port: PicturedPort, limits: PictureLimits = LIMITS): Picture {
  const all = port.frontends.map((detail): FrontendItem => ({ id: frontendId(detail), detail }));
  const frontends = firstFrontends(all, limits.frontends);
  const ways = frontends.flatMap(waysTo);
  const used = new Set(ways.flatMap(({ outcome }) => reached(outcome).map(({ text }) => text)));
  const sorted = sortByUse(port.endpoints, used);
  const endpoints = firstOf(sorted, limits.endpoints);
  return {
    frontends,
    hiddenFrontends: all.length - frontends.length,
    endpoints,
    hiddenEndpoints: port.endpointCount - endpoints.length,
    ways,
    links: linksOf(ways, new Set(endpoints.map(({ detail }) => detail.address))),
  };
}

/** A rest of one is shown: "1 more" takes the same room. */
function firstOf<T>(list: readonly T[], limit: number): readonly T[] {
  return list.length <= limit + 1 ? list : list.slice(0, limit);
}

/** Some of every kind: many external IPs do not hide the node port. */
function firstFrontends(all: readonly FrontendItem[], limit: number): readonly FrontendItem[] {
  const firsts = all.filter(({ detail }, index) => all.findIndex(each => each.detail.kind === detail.kind) === index);
  const chosen = new Set(firstOf([...new Set([...firsts, ...all])], limit));
  return all.filter(item => chosen.has(item));
}

function waysTo({ id, detail }: FrontendItem): readonly Way[] {
  return PLACES.map(from => {
    const outcome = detail.outcomes[from];
    const answering = detail.answering[from];
    return {
      from,
      to: id,
      outcome,
      answering,
      asNode: from === 'node' ? 'none' : seenAsNode(outcome),
      lost: detail.losing[from],
      // The address of the node is known, so its outcome is sure.
      isGuarded: outcome.kind === 'answered' && from !== 'node' && detail.sourceRanges !== undefined,
      end: endOf(outcome),
    };
  });
}

function endOf(outcome: Outcome): End | undefined {
  if (outcome.kind === 'answered') return undefined;
  const { kind, code, reason } = outcome;
  return { text: endText(outcome), reason, kind, at: ENDS_BEHIND.has(code) ? 'behind' : 'before' };
}

interface Reached {
  readonly text: string;
  readonly odds: number | undefined;
  readonly isLost: boolean;
}

function reached(outcome: Outcome): readonly Reached[] {
  if (outcome.kind !== 'answered') return [];
  const { endpoints, lost } = outcome;
  return [
    ...endpoints.map(({ text, odds }) => ({ text, odds, isLost: false })),
    ...lost.map(text => ({ text, odds: endpoints[0]?.odds, isLost: true })),
  ];
}

/** Endpoints that get connections first, those of this node before others. Otherwise the order of the plan. */
function sortByUse(endpoints: readonly EndpointDetail[], used: ReadonlySet<string>): readonly EndpointItem[] {
  const rank = ({ detail, isUsed }: EndpointItem) => {
    const use = used.has(detail.address) ? 0 : isUsed ? 2 : 4;
    return use + (detail.local ? 0 : 1);
  };
  return endpoints
    .map(detail => ({ detail, isUsed: used.has(detail.address) || isUsedByPolicy(detail) }))
    .sort((a, b) => rank(a) - rank(b));
}

export function isUsedByPolicy({ clusterPolicy, localPolicy }: EndpointDetail): boolean {
  return (clusterPolicy?.used ?? false) || (localPolicy?.used ?? false);
}

function linksOf(ways: readonly Way[], shown: ReadonlySet<string>): readonly Link[] {
  const links = new Map<string, { readonly to: string; readonly endpoint: string; readonly shares: Share[] }>();
  for (const way of ways) {
    const { to } = way;
    for (const [endpoint, share] of sharesOf(way, shown)) {
      const key = `${to} ${endpoint}`;
      const link = links.get(key) ?? { to, endpoint, shares: [] };
      links.set(key, link);
      link.shares.push(share);
    }
  }
  return [...links.values()];
}

/** Endpoints that the picture leaves out have one share together: what the others leave. */
function sharesOf({ outcome, answering, lost, from }: Way, shown: ReadonlySet<string>): ReadonlyMap<string, Share> {
  if (outcome.kind !== 'answered') return new Map();
  const all = reached(outcome);
  const shares = new Map(
    all.filter(({ text }) => shown.has(text)).map(({ text, odds, isLost }) => [text, { from, odds, isLost }]),
  );
  if (answering + lost > shares.size) {
    const isKnown = all[0]?.odds !== undefined;
    const rest = [...shares.values()].reduce((left, { odds = 0 }) => left - odds, 1);
    shares.set(MORE, { from, odds: isKnown ? Math.max(0, rest) : undefined, isLost: answering === 0 });
  }
  return shares;
}

/** Ends behind a frontend, each with the callers that it is for: one end if all get the same, otherwise one a caller. */
export function endsBehind(
  ways: readonly Way[],
  id: string,
): readonly (End & { readonly callers: readonly Place[] })[] {
  const ends = ways.flatMap(({ from, to, end }) =>
    to === id && end?.at === 'behind' ? [{ ...end, callers: [from] }] : [],
  );
  const [first] = ends;
  const isSame = ends.length === PLACES.length && ends.every(({ text }) => text === first?.text);
  return first && isSame ? [{ ...first, callers: PLACES }] : ends;
}
