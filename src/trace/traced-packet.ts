import type { Hook } from '../kernel/nftables/index.ts';

/** The whole way of one packet through this machine. */
export interface TracedPacket {
  /** When the trace of the packet was complete, in milliseconds since 1970. */
  readonly at: number;
  readonly protocol: string;
  /** `SYN`, `ACK`. Undefined if the packet is not TCP. */
  readonly tcpFlags: string | undefined;
  /** The packet as it came in, or as a program of this machine sent it. */
  readonly first: Ends;
  /** The packet where its way ended. */
  readonly last: Ends;
  /** Undefined if the packet comes from this machine. */
  readonly inInterface: string | undefined;
  /** The Services that rules on the way belong to: `default/web:http`. */
  readonly services: readonly string[];
  readonly steps: readonly TraceStep[];
  /** The connection was tracked before, so the kernel did not ask the nat chains again. */
  readonly skipsNat: boolean;
  /** The flow of conntrack, as `conntrack -L` prints it. Undefined if conntrack has none. */
  readonly flow: string | undefined;
  readonly outcome: TraceOutcome;
}

/** Source and destination: `10.244.1.200:41234`. */
export interface Ends {
  readonly source: string;
  readonly destination: string;
}

export type TraceStep = ChainStep | RewriteStep;

/** What a base chain, and all chains that its rules jumped to, did. */
export interface ChainStep {
  readonly kind: 'chain';
  readonly hook: Hook | undefined;
  readonly priority: number | undefined;
  /** `inet firewalld` */
  readonly table: string;
  readonly chain: string;
  readonly outInterface: string | undefined;
  readonly rules: readonly RuleStep[];
}

export interface RuleStep {
  readonly kind: 'rule' | 'policy';
  /** The chain that has the rule. */
  readonly chain: string;
  /** The place of the rule in its chain, from 1. Undefined for a policy, and if the rule is gone. */
  readonly position: number | undefined;
  readonly handle: number | undefined;
  /** The rule in the notation of nft or iptables, `policy drop`, or `with handle 7, which is gone`. */
  readonly text: string;
  /** `accept`, `drop`, `jump services`, `continue` */
  readonly verdict: string;
  /** The packet's mark after the rule. */
  readonly mark: number;
  /** Elements of maps and sets that the rule found: `@service-numbers 10.96.0.10 . tcp . 80 : 0x10003000` */
  readonly elements: readonly string[];
  readonly services: readonly string[];
  readonly isReject: boolean;
}

/** The kernel replaced addresses or ports since the step before. */
export interface RewriteStep {
  readonly kind: 'rewrite';
  readonly from: Ends;
  readonly to: Ends;
}

export type TraceOutcome =
  /** All chains accepted the packet, and it left through this interface. */
  | { readonly kind: 'left'; readonly interface: string }
  /** All chains accepted the packet, and it went to a program of this machine, if one listens. */
  | { readonly kind: 'delivered' }
  | {
      readonly kind: 'dropped' | 'rejected';
      readonly table: string;
      readonly rule: RuleStep;
      readonly baseChain: string;
    }
  /** The packet went no further, and no rule of nf_tables is the reason. */
  | { readonly kind: 'lost'; readonly after: Hook | undefined };
