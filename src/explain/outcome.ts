import type { HashInput } from '../model/index.ts';
import type { Ip } from '../net/index.ts';

/** Which address an endpoint sees as its caller: the caller's own address, or one of the node. */
export type SeenAs = 'itself' | 'node';

/** An endpoint that may answer. */
export interface AnsweringEndpoint {
  /** `ip:port` */
  readonly text: string;
  readonly seenAs: SeenAs;
  /** The address that the endpoint sees. Undefined if the kernel chooses one of the node. */
  readonly sourceIP: Ip | undefined;
  /** How likely a new connection gets this endpoint, from 0 to 1. Undefined if only the kernel knows. */
  readonly odds: number | undefined;
}

/** How one of several endpoints is chosen. */
export type Choice =
  | { readonly kind: 'random' | 'turns' | 'least-connections' }
  /** A hash of the client: the same endpoint as long as it exists. */
  | { readonly kind: 'hash'; readonly by: HashInput }
  /** A scheduler of the kernel decides by what it knows: connections, or a hash of addresses. */
  | { readonly kind: 'scheduler'; readonly scheduler: string };

/** A fact that explains an outcome. The code is stable, and the text is for people. */
export interface Remark {
  readonly code: RemarkCode;
  readonly text: string;
}

export type RemarkCode =
  /** The kernel replaces the address inside `connect()`, before any packet. */
  | 'at-socket'
  /** Policy Local: a pod or the node itself reaches all endpoints. */
  | 'short-circuit'
  /** Policy Local: only endpoints on this node serve. */
  | 'local-endpoints'
  /** Policy Local without local endpoints: this mode goes to the endpoints of other nodes. */
  | 'local-fallback'
  /** The owner of the frontend has no endpoints, so another Service that wants it serves. */
  | 'shared-frontend'
  /** Endpoints see the node, because its process makes the connection to them. */
  | 'relay'
  /** The node itself calls, and endpoints see one of its addresses. */
  | 'own-connection'
  /** The node itself calls, and endpoints see the address of the Service. */
  | 'own-connection-from-service-ip'
  | 'masquerade-all'
  | 'masquerade-external'
  | 'masquerade-outside'
  | 'source-kept'
  /** An endpoint reaches itself, and sees the node. */
  | 'hairpin'
  /** An endpoint reaches itself, and the connection stays inside the pod. */
  | 'inside-pod'
  /** An endpoint has an address of the node. Packets to it do not leave the node and keep their source. */
  | 'endpoint-on-node'
  | 'affinity'
  /** Who chose the algorithm. */
  | 'balance'
  /** The Service asks for an algorithm that the mode does not have. */
  | 'balance-unavailable'
  /** The Service asks for the end of connections when their endpoint is gone. */
  | 'ending'
  /** The Service asks for slow start. */
  | 'slow-start'
  /** The Service asks to leave out endpoints whose connections fail. */
  | 'ejection'
  /** The Service has weights, and its algorithm does not use them. */
  | 'weights-unused'
  | 'scheduler'
  /** Of all endpoints, or of two that chance picks, the one with fewest connections. */
  | 'least-connections'
  | 'answers-bypass-node';

/** Why a connection gets no answer from an endpoint of a Service. */
export type ReasonCode =
  | 'source-ranges'
  | 'no-endpoints'
  | 'no-local-endpoints'
  /** Endpoints get the packets, but their answers do not come back through the node. */
  | 'answers-bypass-node'
  /** The mode cannot serve the protocol. */
  | 'protocol'
  /** No endpoint can serve, and the rules that reject do not see connections of the node itself. */
  | 'not-rejected-from-node'
  /** A Service has the address, but not this port. */
  | 'unknown-port'
  | 'unallocated-cluster-ip'
  /** The node port exists, but not at this address. */
  | 'node-port-address'
  /** An address of the node, and no node port. */
  | 'node-address'
  /** A loopback address is the caller's own machine. */
  | 'loopback-of-caller'
  /** The load balancer handles its address itself (ipMode Proxy). */
  | 'load-balancer-proxy'
  /** A Service names the address as an external IP, and this proxy does not serve external IPs. */
  | 'external-ip-not-allowed'
  | 'no-service';

/** What a new connection gets, by the plan and by the way in which the mode works. */
export type Outcome =
  | {
      readonly kind: 'answered';
      /** Present if the kernel replaces the address inside `connect()`. Otherwise packets are translated. */
      readonly at?: 'socket';
      readonly endpoints: readonly AnsweringEndpoint[];
      /** Endpoints that may get the connection although their answers do not reach the caller, by `ip:port`. */
      readonly lost: readonly string[];
      /** The same endpoint answers every time. Any of them may be that endpoint. */
      readonly isSticky: boolean;
      readonly choice: Choice;
      readonly remarks: readonly Remark[];
    }
  /** The caller gets an error at once. */
  | (Unanswered<'refused'> & {
      /** Present if the kernel refuses inside `connect()`, without any packet. */
      readonly at?: 'socket';
    })
  /** The caller waits until it gives up. */
  | Unanswered<'silent'>
  /** The proxy does not handle the connection. What answers is whatever has the address and listens there. */
  | (Unanswered<'elsewhere'> & {
      /** Where the packet goes: a socket of the node, the network beyond the node, or the caller's own machine. */
      readonly at: 'node' | 'network' | 'caller';
    });

interface Unanswered<Kind> {
  readonly kind: Kind;
  readonly code: ReasonCode;
  readonly reason: string;
}
