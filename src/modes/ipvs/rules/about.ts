import type { SetKey } from '../names.ts';

/** What the chains are for, by table and name. */
export const ABOUT_CHAINS: Readonly<Record<string, string>> = {
  'nat KUBE-SERVICES': 'Finds packets to Services, and marks those that should leave with the address of this node.',
  'nat KUBE-POSTROUTING': 'Gives marked connections, and those of an endpoint to itself, the address of this node.',
  'nat KUBE-NODE-PORT': 'Marks connections to node ports, except those with policy Local.',
  'nat KUBE-LOAD-BALANCER': 'Marks connections to load-balancer IPs, except those with policy Local.',
  'nat KUBE-MARK-MASQ': 'Marks a connection that should leave with the address of this node.',
  'filter KUBE-FORWARD': 'Lets connections through that this proxy has sent on.',
  'filter KUBE-NODE-PORT': 'Lets health checks of load balancers through to this node.',
  'filter KUBE-PROXY-FIREWALL': 'Finds packets to load-balancer IPs that allow only some sources.',
  'filter KUBE-SOURCE-RANGES-FIREWALL': 'Lets the allowed sources of a load-balancer IP pass, and drops all others.',
  'filter KUBE-IPVS-FILTER': 'Rejects connections to addresses of Services at ports that no Service has.',
  'filter KUBE-IPVS-OUT-FILTER': 'Drops answers to this node from load balancers that do not allow it as a source.',
};

export const ABOUT_SETS: Readonly<Record<SetKey, string>> = {
  loopBack: 'The endpoints on this node, which may call themselves through a Service.',
  clusterIP: 'The cluster IPs and ports of all Services.',
  externalIP: 'The external IPs and ports with policy Cluster.',
  externalIPLocal: 'The external IPs and ports with policy Local.',
  loadBalancer: 'The load-balancer IPs and ports.',
  loadBalancerFirewall: 'The load-balancer IPs and ports that allow only some sources.',
  loadBalancerLocal: 'The load-balancer IPs and ports with policy Local.',
  loadBalancerSourceIP: 'The load-balancer IPs that this node may call, with the source that it then has.',
  loadBalancerSourceCIDR: 'The load-balancer IPs and ports, each with a range of sources that it allows.',
  nodePortTCP: 'The node ports of TCP.',
  nodePortLocalTCP: 'The node ports of TCP with policy Local.',
  nodePortUDP: 'The node ports of UDP.',
  nodePortLocalUDP: 'The node ports of UDP with policy Local.',
  nodePortSCTP: 'The node ports of SCTP, with the addresses of this node.',
  nodePortLocalSCTP: 'The node ports of SCTP with policy Local, with the addresses of this node.',
  healthCheckNodePort: 'The ports at which this node answers health checks of load balancers.',
  ipvsIPs: 'The addresses of kube-ipvs0: all addresses of Services.',
};
