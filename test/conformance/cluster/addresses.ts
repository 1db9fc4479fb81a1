/** The cluster is in network namespaces of its own, so its addresses collide with nothing. */
const NODE_NET_V4 = '192.168.100.';
const NODE_NET_V6 = 'fd00:100::';

export interface Host {
  readonly name: string;
  readonly v4: string;
  readonly v6: string;
}

export const CONTROL_PLANE: Host = host('control-plane', 10);

/** A node's control group has its name, and all clusters of the machine share those. So the names differ. */
export const NODES: readonly Host[] = nodeNames(process.pid).map((name, index) => host(name, 11 + index));

export const API_SERVER = `https://${CONTROL_PLANE.v4}:6443`;
export const POD_RANGES = '10.244.0.0/16,fd00:10:244::/56';
export const SERVICE_RANGES = '10.96.0.0/16,fd00:10:96::/112';
export const DNS_IP = '10.96.0.10';

/** The way out of the cluster leads here, and nowhere else. */
export const GATEWAY = host('gateway', 1);

/** Clients of load balancers have this address, which is unlike a node's. So tests see whether it is kept. */
export const OUTSIDE_IP = '172.31.0.10';

/** The names of the nodes of the process that runs the cluster. */
export function nodeNames(pid: number): readonly string[] {
  return ['a', 'b', 'c'].map(letter => `node-${letter}-${pid}`);
}

function host(name: string, number: number): Host {
  return { name, v4: `${NODE_NET_V4}${number}`, v6: `${NODE_NET_V6}${number}` };
}
