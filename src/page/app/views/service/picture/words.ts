import type { Choice, Outcome, Place, ReasonCode } from '../../../../../explain/index.ts';
import { percent } from '../../../parts/texts.ts';

export const PLACES: readonly Place[] = ['pod', 'node', 'outside'];

/** What the picture and the list call a caller. */
export const CALLER_WORDS: Readonly<Record<Place, { readonly title: string; readonly about: string }>> = {
  pod: { title: 'Pod', about: 'on this node' },
  node: { title: 'Node', about: 'this node itself' },
  outside: { title: 'Outside', about: 'another machine' },
};

/** The caller as the subject of a sentence. */
export const CALLER_SUBJECTS: Readonly<Record<Place, string>> = {
  pod: 'a pod of this node',
  node: 'the node itself',
  outside: 'a machine outside',
};

type Unanswered = Exclude<Outcome, { readonly kind: 'answered' }>;

const END_WORDS: Readonly<Record<Unanswered['kind'], string>> = {
  refused: 'refused',
  silent: 'silent',
  elsewhere: 'not handled',
};

const REASON_WORDS: Readonly<Record<ReasonCode, string>> = {
  'source-ranges': 'source ranges',
  'no-endpoints': 'no endpoints',
  'no-local-endpoints': 'no local endpoints',
  'answers-bypass-node': 'answers lost',
  protocol: 'protocol',
  'not-rejected-from-node': 'no endpoints',
  'unknown-port': 'unknown port',
  'unallocated-cluster-ip': 'unallocated address',
  'node-port-address': 'address of the node',
  'node-address': 'address of the node',
  'loopback-of-caller': 'loopback address',
  'load-balancer-proxy': 'load balancer',
  'external-ip-not-allowed': 'external IP not served',
  'no-service': 'no Service',
};

/** `refused: no endpoints` */
export function endText({ kind, code }: Unanswered): string {
  return `${END_WORDS[kind]}: ${REASON_WORDS[code]}`;
}

/** One share, or the smallest and the largest: `25–50 %`. Undefined if only the kernel knows. */
export function percentRange(shares: readonly (number | undefined)[]): string | undefined {
  const known = shares.filter(share => share !== undefined);
  if (known.length === 0 || known.length < shares.length) return undefined;
  const low = percent(Math.min(...known));
  const high = percent(Math.max(...known));
  return low === high ? low : `${low.replace('\u00a0%', '')}–${high}`;
}

function choiceWords(choice: Choice): string {
  switch (choice.kind) {
    case 'random':
      return 'at random';
    case 'turns':
      return 'in turns';
    case 'least-connections':
      return 'one with few connections';
    case 'hash':
      return choice.by === 'client-address' ? "by a hash of the client's address" : 'by a hash of address and port';
    case 'scheduler':
      return `as the scheduler ${choice.scheduler} of the kernel decides`;
  }
}

/** Lists of an outcome are cut, so these numbers come with it. */
export interface EndpointCounts {
  readonly answering: number;
  /** Endpoints that get connections although their answers are lost. */
  readonly lost: number;
}

/** What a connection gets, as the end of a sentence. So many endpoints answer: the outcome has only the first ones. */
export function outcomeText(outcome: Outcome, { answering, lost }: EndpointCounts): string {
  switch (outcome.kind) {
    case 'answered':
      return answeredText(outcome, answering, lost);
    case 'refused':
      return `is refused at once${isAtSocket(outcome) ? ', inside connect()' : ''}: ${outcome.reason}`;
    case 'silent':
      return `gets no answer: ${outcome.reason}`;
    case 'elsewhere':
      return `is not handled by the proxy: ${outcome.reason}`;
  }
}

type Answered = Extract<Outcome, { readonly kind: 'answered' }>;

function answeredText(outcome: Answered, answering: number, lost: number): string {
  const { endpoints, isSticky, choice } = outcome;
  const count = answering + lost;
  const shares = percentRange(endpoints.map(({ odds }) => odds));
  const by =
    count === 1
      ? `endpoint ${endpoints[0]?.text}`
      : `one of ${count} endpoints, ${choiceWords(choice)}${shares === undefined ? '' : ` (${shares} each)`}`;
  const sticky = isSticky ? '; a client keeps its endpoint' : '';
  const missing = lost === 0 ? '' : `; the answers of ${lost} bypass this node, so they are lost`;
  const start = isAtSocket(outcome) ? 'is translated at the socket, and ' : '';
  return `${start}${lost === 0 ? 'is answered by' : 'goes to'} ${by}; ${seenText(outcome)}${sticky}${missing}`;
}

/** The kernel decides inside `connect()`, before any packet. */
export function isAtSocket(outcome: Outcome): boolean {
  return (outcome.kind === 'answered' || outcome.kind === 'refused') && outcome.at === 'socket';
}

function seenText(outcome: Answered): string {
  switch (seenAsNode(outcome)) {
    case 'all':
      return 'endpoints see the node';
    case 'some':
      return 'some endpoints see the node, others the caller';
    case 'none':
      return 'endpoints see the caller';
  }
}

/** How many of the endpoints see an address of the node instead of the caller's. */
export function seenAsNode(outcome: Outcome): 'all' | 'some' | 'none' {
  if (outcome.kind !== 'answered') return 'none';
  const count = outcome.endpoints.filter(({ seenAs }) => seenAs === 'node').length;
  if (count === 0) return 'none';
  return count === outcome.endpoints.length ? 'all' : 'some';
}

/** A sign for a way, so that its colour is not alone. */
export function outcomeSign(outcome: Outcome): { readonly sign: string; readonly tone: 'good' | 'warn' | 'bad' } {
  if (outcome.kind !== 'answered') return { sign: '✕', tone: 'bad' };
  return outcome.lost.length > 0 ? { sign: '!', tone: 'warn' } : { sign: '✓', tone: 'good' };
}

/** `a pod of this node or the node itself` */
export function callersText(callers: readonly Place[]): string {
  return callers.length === PLACES.length ? 'any caller' : callers.map(from => CALLER_SUBJECTS[from]).join(' or ');
}
