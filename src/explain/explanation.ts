import type { Protocol } from '../api/index.ts';
import type { Family } from '../net/index.ts';
import type { Frontend } from '../plan/index.ts';
import type { Place } from './caller.ts';
import type { Outcome } from './outcome.ts';

export const EXPLANATION_SCHEMA = 'pointsman.explanation/v1';

/** The answer to "what does a connection to this address get, and why?", as plain data. */
export interface Explanation {
  readonly schema: typeof EXPLANATION_SCHEMA;
  readonly question: AskedQuestion;
  readonly origin: ExplanationOrigin;
  /** The frontend that the connection meets. Absent if there is none, or if the question is about several ports. */
  readonly target?: ExplainedTarget;
  /** Absent if there is no target. */
  readonly caller?: ExplainedCaller;
  readonly steps: readonly Step[];
  /** What a new connection gets. Absent if the proxy cannot tell. */
  readonly outcome?: Outcome;
  readonly verdict: Verdict;
  /** One sentence. */
  readonly summary: string;
  /** What to do next. Absent if nothing is to be done. */
  readonly next?: NextStep;
}

/** works: a connection is answered. broken: it is not, or not always. unknown: the proxy does not know enough. */
export type Verdict = 'works' | 'broken' | 'unknown';

export interface AskedQuestion {
  /** `ns/name:port/udp` or `ip:port/udp`. */
  readonly to: string;
  /** `node`, `outside`, an address or `ns/pod`. Absent if the operator named no caller. */
  readonly from?: string;
  readonly probe: boolean;
}

export interface ExplanationOrigin {
  /** Where the facts come from: a running proxy, an API server, or manifests. */
  readonly kind: 'proxy' | 'cluster' | 'manifests';
  readonly node: string;
  readonly mode: string;
}

export interface ExplainedTarget {
  /** `ns/name` */
  readonly service: string;
  /** The name of the port; empty if it has none. */
  readonly port: string;
  readonly protocol: Protocol;
  readonly family: Family;
  readonly frontend: Frontend['kind'];
  /** `ip:port` of the connection. */
  readonly address: string;
}

export interface ExplainedCaller {
  readonly place: Place;
  /** Absent if the operator named none. */
  readonly ip?: string;
  /** `ns/name`, if an EndpointSlice names the pod. */
  readonly pod?: string;
  /** How the place was detected: `in the cluster CIDR 10.244.0.0/16`. */
  readonly how: string;
  /** The operator named no caller. */
  readonly isAssumed: boolean;
}

export type Topic =
  | 'knowledge'
  | 'service'
  | 'port'
  | 'caller'
  | 'endpoints'
  | 'sockets'
  | 'path'
  | 'kernel'
  | 'connections'
  | 'connected'
  | 'other rules'
  | 'listeners'
  | 'probe';

/** good: as it should be. bad: a reason why it does not work. note: worth knowing. unknown: could not be found out. */
export type StepVerdict = 'good' | 'bad' | 'note' | 'unknown';

/** One thing that was looked at. */
export interface Step {
  /** From 1. */
  readonly number: number;
  readonly topic: Topic;
  readonly verdict: StepVerdict;
  /** One sentence. */
  readonly text: string;
  /** Further lines. */
  readonly details: readonly string[];
  /** What was looked at, for programs. Its fields depend on the topic. */
  readonly data?: unknown;
}

export interface NextStep {
  /** What to do, as an order. */
  readonly text: string;
  readonly command?: string;
}
