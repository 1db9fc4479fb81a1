import type { Protocol } from '../api/index.ts';
import type { Ip } from '../net/index.ts';
import type { Frontend, ServicePortPlan } from '../plan/index.ts';
import type { ModeSettings } from './mode.ts';

/** How a mode chooses one of several endpoints for a new connection. */
export type EndpointChoice =
  /**
   * At random. Every endpoint is equally likely. `turnsLimit`: a Service that asks for turns gets them only while all
   * endpoints have the same share. The text says which other limit there is: `with old programs the choice is random`.
   */
  | { readonly kind: 'random'; readonly turnsLimit?: string }
  /** The process of the mode chooses, as the Service's annotation asks: by turns, or by the number of connections. */
  | { readonly kind: 'balancer' }
  /** The kernel has schedulers. The annotation of a Service may name another one than this. */
  | { readonly kind: 'scheduler'; readonly scheduler: string };

/** How a mode chooses if a Service does not. Completes "the mode chooses". */
export function usualChoice(choice: EndpointChoice): string {
  switch (choice.kind) {
    case 'random':
      return 'at random';
    case 'balancer':
      return 'in turns';
    case 'scheduler':
      return `as the scheduler ${choice.scheduler} decides`;
  }
}

/** Which node ports a mode serves at loopback addresses. */
export type LoopbackNodePorts =
  | 'none'
  /** Those of IPv4, if `nodePortAddresses` contains 127.0.0.0/8. */
  | 'ipv4'
  /** Those of both families, if `nodePortAddresses` contains the address. */
  | 'all'
  /** Listeners of the mode serve them, if `nodePortAddresses` lists loopback itself. Otherwise the mode rejects. */
  | 'listeners';

/** The settings of a node that decide what its sockets do, and the addresses of its interfaces. */
export interface SocketNode extends Pick<ModeSettings, 'masqueradeAll' | 'nodePortAddresses' | 'nodePortIPs'> {
  readonly nodeIPs: readonly Ip[];
}

/** What sockets do with connections to a frontend. */
export interface SocketDecision {
  /** The endpoints among which the kernel chooses. `refuse`: no endpoint can serve, so the call fails at once. */
  readonly to: 'cluster' | 'local' | 'refuse';
  /** Only for processes of the node itself. The sockets of pods leave these connections to the rules. */
  readonly isNodeOnly: boolean;
}

/**
 * The kernel replaces the address of a Service inside the call that connects a TCP socket, before any packet. Sockets
 * leave alone what they do not decide; its packets meet the rules of the mode.
 */
export interface SocketBehaviour {
  /** The processes whose sockets the mode serves: all of this machine, or those in the node's own network namespace. */
  readonly callers: 'all' | 'node';
  /** Undefined if sockets leave connections to the frontend to the rules. */
  decide(plan: ServicePortPlan, frontend: Frontend, node: SocketNode): SocketDecision | undefined;
  /** Whether sockets serve node ports at an address of the node. At loopback addresses they do so for the node only. */
  hasNodePorts(ip: Ip, node: SocketNode): boolean;
}

/**
 * What happens to connections in a mode, where modes differ. Plans say the rest. Each mode declares it, so that other
 * parts of the project need not know any mode by name.
 */
export interface ModeBehaviour {
  readonly choice: EndpointChoice;
  /** Undefined if the mode serves no sockets. */
  readonly atSockets?: SocketBehaviour | undefined;
  /** A process accepts each connection and makes another one to the endpoint, so endpoints see the node as their caller. */
  readonly isRelay: boolean;
  /** What replaces the destination of packets: rules, or virtual servers of the kernel, which do it at other hooks. */
  readonly translatedBy: 'rules' | 'virtual servers';
  /** Policy Local: pods and the node itself go to all endpoints, as the plan says. False: as all other callers. */
  readonly hasShortCircuit: boolean;
  /** What policy Local does without local endpoints: the plan's action, or it forwards to the cluster endpoints. */
  readonly withoutLocalEndpoints: 'as-planned' | 'cluster-endpoints';
  /**
   * The source address of the node's own connections that are not masqueraded: an address of the interface through which
   * they leave, or the address that they go to, because the node has that address itself.
   */
  readonly ownSource: 'interface' | 'destination';
  /** The callers that source ranges exclude also from a frontend that no endpoint can serve. All others are refused. */
  readonly guardsWithoutEndpoints: 'all' | 'none' | 'all-but-node';
  /**
   * The rules that reject connections see those of the node itself to external IPs and load-balancer IPs. False: these
   * connections leave the node.
   */
  readonly rejectsNodeAtExternalIPs: boolean;
  /** The addresses of Services at which the mode rejects connections to ports that no Service has. */
  readonly rejectsUnknownPorts: 'at-all-addresses' | 'at-cluster-ips' | 'nowhere';
  /** The mode drops connections to addresses of service CIDRs that no Service has. */
  readonly dropsUnallocatedClusterIPs: boolean;
  readonly loopbackNodePorts: LoopbackNodePorts;
  /** What an operator does to make node ports answer at loopback addresses. */
  readonly loopbackAdvice?: string;
  /** Without endpoints, a node port is rejected or dropped at every address of the node, also where it is not accepted. */
  readonly refusesNodePortsAtAllAddresses: boolean;
  /** A frontend whose owner has no endpoints serves another Service that wants it. */
  readonly sharesFrontends: boolean;
  /** The rules of the mode mark the packets whose source they replace, and only those. */
  readonly marksMasqueraded?: boolean;
  /** Masqueraded TCP connections of node processes keep their source port if it is free. */
  readonly keepsNodeSourcePorts?: boolean;
  /** The protocols that the mode cannot serve. */
  readonly lacksProtocols: readonly Protocol[];
}

/** A mode that does what plans say, and no more. */
export const PLAN_BEHAVIOUR: ModeBehaviour = {
  choice: { kind: 'random' },
  isRelay: false,
  translatedBy: 'rules',
  hasShortCircuit: true,
  withoutLocalEndpoints: 'as-planned',
  ownSource: 'interface',
  guardsWithoutEndpoints: 'all',
  rejectsNodeAtExternalIPs: true,
  rejectsUnknownPorts: 'nowhere',
  dropsUnallocatedClusterIPs: false,
  loopbackNodePorts: 'none',
  refusesNodePortsAtAllAddresses: false,
  sharesFrontends: false,
  lacksProtocols: [],
};
