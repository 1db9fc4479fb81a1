import type { ServiceState } from '../../../inspect/index.ts';

export type Tone = 'good' | 'warn' | 'bad' | 'quiet' | 'accent';

export interface StateWords {
  readonly word: string;
  /** A sign beside the word, so that colour is never alone. */
  readonly sign: string;
  readonly tone: Tone;
  readonly about: string;
}

/** From the worst to the best, in the order of the proxy. */
export const STATE_WORDS: Readonly<Record<ServiceState, StateWords>> = {
  setAside: { word: 'set aside', sign: '✕', tone: 'bad', about: 'The kernel refused a port.' },
  conflict: { word: 'conflict', sign: '✕', tone: 'bad', about: 'An address belongs to another Service.' },
  problem: { word: 'problem', sign: '✕', tone: 'bad', about: 'The object, or an EndpointSlice of it, cannot be used.' },
  noEndpoints: { word: 'no endpoints', sign: '○', tone: 'bad', about: 'A port has no endpoint that can serve.' },
  noLocalEndpoints: {
    word: 'no local endpoints',
    sign: '◐',
    tone: 'warn',
    about: 'A policy is Local, and this node has no endpoint.',
  },
  waiting: { word: 'waiting', sign: '…', tone: 'warn', about: 'The kernel does not have the last changes yet.' },
  programmed: { word: 'programmed', sign: '✓', tone: 'good', about: 'The kernel has it.' },
  notProxied: { word: 'not proxied', sign: '–', tone: 'quiet', about: 'The proxy has nothing to do for it.' },
};

export const STATE_ORDER = Object.keys(STATE_WORDS) as readonly ServiceState[];

/** A newer proxy may know states that this page does not. */
export function stateWords(state: ServiceState): StateWords {
  return STATE_WORDS[state] ?? { word: state, sign: '?', tone: 'quiet', about: '' };
}

const BROKEN: ReadonlySet<ServiceState> = new Set(STATE_ORDER.slice(0, STATE_ORDER.indexOf('noLocalEndpoints') + 1));

/** Some callers that connect to the Service on this node get no answer. */
export function isBrokenState(state: ServiceState): boolean {
  return BROKEN.has(state);
}
