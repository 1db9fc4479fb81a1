import type { Ip } from '../../net/index.ts';
import type { Packet } from '../packet.ts';

/** The way of a packet through this machine. */
export interface PacketPath {
  /** The packet as the caller sends it. */
  readonly packet: Packet;
  /** A process of this machine sends the packet. */
  readonly isFromNode: boolean;
  /** A pod of this machine sends the packet. It comes in through the interface that leads to the pod. */
  readonly isFromPod?: boolean | undefined;
  /** The endpoint that the proxy chooses. Undefined if the proxy does not translate the packet. */
  readonly endpoint: { readonly ip: Ip; readonly port: number } | undefined;
  /** The bit of the packet mark by which the proxy replaces the source, if it is known whether this packet gets it. */
  readonly masquerade?: { readonly mark: number; readonly isMarked: boolean } | undefined;
  /** What replaces the destination: rules, by default, or a virtual server of the kernel. */
  readonly translatedBy?: 'rules' | 'virtual server' | undefined;
}

export type PathHook = 'prerouting' | 'input' | 'forward' | 'output' | 'postrouting';

/**
 * drops     The packet does not pass.
 * may drop  That depends on something that is not known of the packet. `unknown` lists it.
 */
export type Certainty = 'drops' | 'may drop';

interface FindingBase {
  readonly certainty: Certainty;
  /** What would have to be known: `input interface`. Empty for `drops`. */
  readonly unknown: readonly string[];
  /** The rule, policy, setting or route, as the tool that lists it prints it. */
  readonly text: string;
}

/** A rule of another program, or the policy of a base chain. */
export interface RuleFinding extends FindingBase {
  readonly kind: 'rule' | 'policy';
  /** The tool that lists it. */
  readonly tool: 'nft' | 'iptables-nft' | 'ip6tables-nft' | 'iptables-legacy' | 'ip6tables-legacy';
  readonly family: 'ip' | 'ip6' | 'inet';
  readonly table: string;
  /** The chain that has the rule. */
  readonly chain: string;
  readonly hook: PathHook;
  /** The priority of the base chain through which the packet comes to the rule. */
  readonly priority: number;
  /** untrack: connection tracking ignores the packet, so the proxy's rules do not translate it. */
  readonly verdict: 'drop' | 'reject' | 'untrack';
  /** The comment of the rule. */
  readonly comment: string | undefined;
}

/** A setting of the kernel that makes it drop the packet. */
export interface SysctlFinding extends FindingBase {
  readonly kind: 'sysctl';
  /** `net.ipv4.ip_forward` */
  readonly name: string;
  readonly value: string;
}

/** The routing table has no way to the destination. */
export interface RouteFinding extends FindingBase {
  readonly kind: 'route';
  readonly destination: Ip;
}

export type Finding = RuleFinding | SysctlFinding | RouteFinding;

export interface OtherRules {
  /** In the order in which the packet comes to them. */
  readonly findings: readonly Finding[];
  /** Tables that can drop packets but have chains that are not evaluated: `bridge filter`, `netdev guard`. */
  readonly unread: readonly string[];
  /** Why findings may be missing. Undefined if these are all. */
  readonly incomplete: string | undefined;
}
