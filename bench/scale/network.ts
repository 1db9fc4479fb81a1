import { Machine } from '../../src/demo/playground/machine.ts';
import { type Cidr, hostCidr, type Ip, parseCidr } from '../../src/net/index.ts';
import { NODE_IP } from '../../test/support/namespaces.ts';
import { POD_RANGE, SERVICE_RANGE } from './objects.ts';

const PODS_IP = '192.168.0.3' as Ip;

/**
 * A node, and one machine that has the addresses of all pods. That machine also has the addresses of all Services, at
 * which nothing listens. So a connection to a Service that the node does not translate is refused at once.
 *
 *     node 192.168.0.2 ─ pods 10.128.0.0/9
 */
export class ScaleNetwork {
  readonly node = Machine.create();
  readonly pods = Machine.create();

  constructor() {
    const link = this.node.route.addLink({
      kind: 'veth',
      name: 'eth0',
      peer: { name: 'eth0', namespace: this.pods.namespace },
    });
    this.node.addAddress(link, NODE_IP, 32);
    this.node.route.setLink(link, { up: true });
    const eth0 = this.pods.link('eth0');
    this.pods.addAddress(eth0, PODS_IP, 32);
    this.pods.route.setLink(eth0, { up: true });
    this.node.awaitLink('eth0');
    this.pods.awaitLink('eth0');
    this.node.set('net/ipv4/ip_forward', 1);
    this.node.answerAllRejects();
    this.node.route.addRoute({ destination: hostCidr(PODS_IP), dev: link });
    this.pods.route.addRoute({ destination: hostCidr(NODE_IP), dev: eth0 });
    for (const range of [POD_RANGE, SERVICE_RANGE]) {
      this.node.route.addRoute({ destination: cidr(range), via: PODS_IP, src: NODE_IP });
      this.pods.route.addRoute({ destination: cidr(range), type: 'local', dev: this.pods.link('lo') });
    }
  }

  close(): void {
    this.pods.close();
    this.node.close();
  }
}

function cidr(text: string): Cidr {
  const parsed = parseCidr(text);
  if (!parsed) throw new Error(`${text} is no network`);
  return parsed;
}
