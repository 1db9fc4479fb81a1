import type { TrafficPolicy } from '../api/index.ts';
import { isExternallyAccessible, type LocalDetector, type ServicePort } from '../model/index.ts';
import { type Cidr, cidrContains, type Ip } from '../net/index.ts';
import type { ChosenEndpoints } from './choose-endpoints.ts';

/** What happens to a connection that does not come from the node's own pods or processes. */
export type Action = 'forward' | 'reject' | 'drop';

/** One address and port at which a service port accepts connections. */
export interface Frontend {
  readonly kind: 'ClusterIP' | 'ExternalIP' | 'LoadBalancerIP' | 'NodePort';
  /** Undefined for a node port, which every address that accepts node ports has. */
  readonly ip: Ip | undefined;
  readonly port: number;
  /** Cluster forwards to the cluster endpoints, Local to the local endpoints. */
  readonly policy: TrafficPolicy;
  readonly action: Action;
  /** The clients whose connections go to the cluster endpoints although the policy is Local, whatever the action. */
  readonly shortCircuit: 'none' | 'node' | 'pods-and-node';
  /** The clients whose source address the node replaces by its own, so that answers come back to the node. */
  readonly masquerade: 'never' | 'from-outside' | 'from-node' | 'always';
  /** Undefined if every client may connect. */
  readonly firewall: Firewall | undefined;
}

/** Connections from other addresses are dropped. */
export interface Firewall {
  readonly sourceRanges: readonly Cidr[];
  /** The ranges contain the node's own address, so that the node may connect to the load-balancer address. */
  readonly includesNode: boolean;
}

export interface FrontendOptions {
  /** Undefined if the proxy cannot recognise traffic from this node's pods. */
  readonly localDetector: LocalDetector | undefined;
  readonly masqueradeAll: boolean;
  readonly nodeIP: Ip;
  /** False if the feature gate AllowServiceExternalIPs is off: external IPs of Services are ignored. */
  readonly allowExternalIPs: boolean;
}

type Route = Pick<Frontend, 'policy' | 'action' | 'shortCircuit' | 'masquerade'>;

export function planFrontends(
  port: ServicePort,
  chosen: ChosenEndpoints,
  options: FrontendOptions,
): readonly Frontend[] {
  const list = [frontend('ClusterIP', port.clusterIP, port.port, internalRoute(port, chosen, options))];
  if (!isExternallyAccessible(port)) return list;
  const external = externalRoute(port, chosen, options);
  if (options.allowExternalIPs) {
    for (const ip of port.externalIPs) list.push(frontend('ExternalIP', ip, port.port, external));
  }
  const firewall = firewallOf(port, options);
  for (const ip of port.loadBalancerVIPs) list.push(frontend('LoadBalancerIP', ip, port.port, external, firewall));
  if (port.nodePort !== 0) list.push(frontend('NodePort', undefined, port.nodePort, external));
  return list;
}

function frontend(
  kind: Frontend['kind'],
  ip: Ip | undefined,
  port: number,
  route: Route,
  firewall?: Firewall | undefined,
): Frontend {
  const { policy, action, shortCircuit, masquerade } = route;
  return { kind, ip, port, policy, action, shortCircuit, masquerade, firewall };
}

function internalRoute(port: ServicePort, chosen: ChosenEndpoints, options: FrontendOptions): Route {
  const { masqueradeAll, localDetector } = options;
  return {
    policy: port.internalPolicyLocal ? 'Local' : 'Cluster',
    action: actionOf(port.internalPolicyLocal, chosen),
    shortCircuit: 'none',
    masquerade: masqueradeAll ? 'always' : localDetector ? 'from-outside' : 'never',
  };
}

function externalRoute(port: ServicePort, chosen: ChosenEndpoints, options: FrontendOptions): Route {
  const action = actionOf(port.externalPolicyLocal, chosen);
  if (!port.externalPolicyLocal) {
    return { policy: 'Cluster', action, shortCircuit: 'none', masquerade: 'always' };
  }
  const shortCircuit = !chosen.hasEndpoints ? 'none' : options.localDetector ? 'pods-and-node' : 'node';
  return { policy: 'Local', action, shortCircuit, masquerade: 'from-node' };
}

/**
 * Without any endpoint the client learns it at once by a reject. With endpoints on other nodes only, a drop makes a
 * load balancer choose another node.
 */
function actionOf(policyLocal: boolean, chosen: ChosenEndpoints): Action {
  if (!chosen.hasEndpoints) return 'reject';
  return policyLocal && chosen.local.length === 0 ? 'drop' : 'forward';
}

function firewallOf(port: ServicePort, { nodeIP }: FrontendOptions): Firewall | undefined {
  const sourceRanges = port.loadBalancerSourceRanges;
  if (sourceRanges.length === 0) return undefined;
  return { sourceRanges, includesNode: sourceRanges.some(range => cidrContains(range, nodeIP)) };
}
