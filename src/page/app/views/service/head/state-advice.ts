import type { ServiceRow, ServiceState } from '../../../../../inspect/index.ts';

/** What a state means, and what an operator can do about it. */
export interface StateAdvice {
  readonly meaning: string;
  readonly advice?: string;
}

const STATE_ADVICE: Readonly<Record<ServiceState, StateAdvice>> = {
  setAside: {
    meaning: 'The kernel refused a port of this Service. All other Services are programmed.',
    advice: 'Read the reason, mend the Service or the node. The proxy retries when the Service changes.',
  },
  conflict: {
    meaning: 'Another Service owns an address of this one. Connections to that address go to the owner.',
    advice: 'Give one of the two Services another address.',
  },
  problem: {
    meaning: 'The object, or one of its EndpointSlices, cannot be used as it is.',
    advice: 'Mend the field that the reason names. The last good version stays in use.',
  },
  noEndpoints: {
    meaning: 'No endpoint can serve, so connections are refused at once.',
    advice: 'Check that pods match the selector, that they are ready, and that the target port exists.',
  },
  noLocalEndpoints: {
    meaning: 'A traffic policy is Local, and this node has no endpoint. Such connections get no answer here.',
    advice: 'Run a pod on this node, send callers to a node that has one, or use the policy Cluster.',
  },
  waiting: { meaning: 'The kernel does not have the last changes yet.' },
  programmed: { meaning: 'The kernel has it.' },
  notProxied: { meaning: 'The proxy has nothing to do for this Service.' },
};

/** Why callers of such a Service do not need the proxy. */
const TYPE_WORDS: Readonly<Record<string, string>> = {
  ExternalName: 'Its name stands for another DNS name. Callers connect to that machine themselves.',
  ClusterIP: 'Without a cluster IP, DNS gives callers the addresses of its pods, and they connect to them directly.',
};

export function stateAdvice({ state, type }: Pick<ServiceRow, 'state' | 'type'>): StateAdvice {
  const words = STATE_ADVICE[state] ?? { meaning: '' };
  const advice = words.advice ?? (state === 'notProxied' ? TYPE_WORDS[type] : undefined);
  return advice === undefined ? words : { ...words, advice };
}
