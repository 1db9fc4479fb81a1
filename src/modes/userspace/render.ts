import type { TrafficPolicy } from '../../api/index.ts';
import { quoteWord } from '../../kernel/iptables/index.ts';
import type { LocalDetector } from '../../model/index.ts';
import { type Cidr, cidrContains, formatCidr, hostCidr, type Ip, joinHostPort } from '../../net/index.ts';
import type { Frontend, ServicePortPlan } from '../../plan/index.ts';
import { commentName } from '../comment-name.ts';
import type { ChainName } from './names.ts';
import type { RenderOptions } from './portals/render-options.ts';

/** A rule of one of our chains. `text` is a line of restore input without `-A CHAIN`. */
export interface PortalRule {
  readonly chain: ChainName;
  readonly text: string;
}

/** The proxy ports of a service port: one for the traffic of each policy that is forwarded. */
export type ProxyPorts<Port = number> = Readonly<Partial<Record<TrafficPolicy, Port>>>;

/** The policies for which the frontends of a plan need a proxy. */
export function neededPolicies({ frontends, endpoints }: ServicePortPlan): ReadonlySet<TrafficPolicy> {
  const policies = new Set<TrafficPolicy>();
  for (const { action, policy, shortCircuit } of frontends) {
    if (action === 'forward') policies.add(policy);
    if (shortCircuit !== 'none' && endpoints.cluster.length > 0) policies.add('Cluster');
  }
  return policies;
}

/** The rules of a service port, in order. A preview gives names of ports in place of numbers. */
export function render(
  plan: ServicePortPlan,
  ports: ProxyPorts<number | string>,
  options: RenderOptions,
): readonly PortalRule[] {
  const renderer = new Renderer(plan, ports, options);
  for (const frontend of plan.frontends) renderer.addFrontend(frontend);
  renderer.addProxyPorts();
  return renderer.rules;
}

/** The plan after the proxy has ended: frontends that forwarded refuse. */
export function refusing(plan: ServicePortPlan): ServicePortPlan {
  const frontends = plan.frontends.map(
    (frontend): Frontend => ({
      ...frontend,
      action: frontend.action === 'drop' ? 'drop' : 'reject',
      shortCircuit: 'none',
    }),
  );
  return { ...plan, frontends };
}

/** Matches this machine's own addresses. */
const LOCAL = '-m addrtype --dst-type LOCAL';

class Renderer {
  readonly rules: PortalRule[] = [];
  readonly #ports: ProxyPorts<number | string>;
  readonly #options: RenderOptions;
  readonly #protocol: string;
  readonly #comment: string;
  readonly #hasNodePort: boolean;

  constructor(plan: ServicePortPlan, ports: ProxyPorts<number | string>, options: RenderOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#protocol = plan.port.protocol.toLowerCase();
    this.#comment = commentName(plan);
    this.#hasNodePort = plan.frontends.some(({ kind }) => kind === 'NodePort');
  }

  addFrontend(frontend: Frontend): void {
    for (const destination of this.#destinations(frontend.ip)) {
      for (const source of this.#sources(frontend)) {
        this.#addFromOutside(frontend, source, destination);
        this.#addFromNode(frontend, source, destination);
      }
    }
    this.#addRefusals(frontend);
  }

  /** Only connections that came through a portal reach a proxy port. */
  addProxyPorts(): void {
    for (const port of Object.values(this.#ports)) {
      const at = this.#at(port);
      if (this.#hasNodePort) {
        this.#add('KUBE-NODEPORT-NON-LOCAL', at, '-m state --state NEW -m conntrack --ctstate DNAT -j ACCEPT');
      }
      this.#add('KUBE-PORTALS-FILTER', at, `${LOCAL} -m conntrack ! --ctstate DNAT -j REJECT`);
    }
  }

  #addFromOutside(frontend: Frontend, source: Cidr | undefined, destination: string): void {
    const { ip, port, policy, action, shortCircuit } = frontend;
    const { localDetector, listenIP } = this.#options;
    const chain = ip === undefined ? 'KUBE-NODEPORT-CONTAINER' : 'KUBE-PORTALS-CONTAINER';
    const add = (match: string, toPolicy: TrafficPolicy) => {
      const target = this.#target(toPolicy, listenIP);
      if (target !== undefined) this.#add(chain, match, destination, this.#at(port), target);
    };
    const pods = shortCircuit === 'pods-and-node' && localDetector ? podMatch(localDetector, source) : undefined;
    if (pods !== undefined) add(pods, 'Cluster');
    if (action === 'forward') add(sourceMatch(source), policy);
  }

  #addFromNode(frontend: Frontend, source: Cidr | undefined, destination: string): void {
    const { ip, port, policy, action, shortCircuit } = frontend;
    if (action !== 'forward' && shortCircuit === 'none') return;
    const { listenIP, hostIP } = this.#options;
    const chain = ip === undefined ? 'KUBE-NODEPORT-HOST' : 'KUBE-PORTALS-HOST';
    const target = this.#target(shortCircuit === 'none' ? policy : 'Cluster', listenIP ?? hostIP);
    if (target !== undefined) this.#add(chain, sourceMatch(source), destination, this.#at(port), target);
  }

  /** A packet that no rule sends to a proxy still has the frontend's address when it comes to this chain. */
  #addRefusals(frontend: Frontend): void {
    const { ip, port, action, firewall } = frontend;
    const at = this.#at(port);
    const local = ip === undefined ? LOCAL : '';
    for (const destination of this.#destinations(ip)) {
      const add = (source: string, target: string) =>
        this.#add('KUBE-PORTALS-FILTER', source, destination, at, local, `-j ${target}`);
      if (action !== 'forward') {
        for (const source of this.#sources(frontend)) add(sourceMatch(source), action.toUpperCase());
      }
      if (firewall) add('', 'DROP');
    }
  }

  /** The networks that may connect; undefined for any. The node reaches its own load balancer from that address. */
  #sources({ ip, firewall }: Frontend): readonly (Cidr | undefined)[] {
    if (!firewall) return [undefined];
    const own = firewall.includesNode && ip !== undefined ? [hostCidr(ip)] : [];
    return [...firewall.sourceRanges, ...own];
  }

  #destinations(ip: Ip | undefined): readonly string[] {
    if (ip !== undefined) return [`-d ${formatCidr(hostCidr(ip))}`];
    const { nodePortRanges } = this.#options;
    return nodePortRanges ? nodePortRanges.map(range => `-d ${formatCidr(range)}`) : [''];
  }

  #at(port: number | string): string {
    return `-p ${this.#protocol} -m comment --comment ${this.#comment} -m ${this.#protocol} --dport ${port}`;
  }

  /** Leads to the proxy port at an address, or at the address where the packet came in. Undefined without a proxy. */
  #target(policy: TrafficPolicy, ip: Ip | undefined): string | undefined {
    const port = this.#ports[policy];
    if (port === undefined) return undefined;
    return ip === undefined ? `-j REDIRECT --to-ports ${port}` : `-j DNAT --to-destination ${joinHostPort(ip, port)}`;
  }

  #add(chain: ChainName, ...parts: readonly string[]): void {
    this.rules.push({ chain, text: parts.filter(part => part !== '').join(' ') });
  }
}

function sourceMatch(source: Cidr | undefined): string {
  return source ? `-s ${formatCidr(source)}` : '';
}

/**
 * Matches the pods that may connect; undefined if there can be none. A rule can match one source only, so this is the
 * smaller of the two networks if one contains the other.
 */
function podMatch(detector: LocalDetector, source: Cidr | undefined): string | undefined {
  switch (detector.kind) {
    case 'source-cidr': {
      if (!source) return sourceMatch(detector.cidr);
      const [wide, narrow] = source.prefix < detector.cidr.prefix ? [source, detector.cidr] : [detector.cidr, source];
      return cidrContains(wide, narrow.address) ? sourceMatch(narrow) : undefined;
    }
    case 'interface':
      return interfaceMatch(detector.name, source);
    case 'interface-prefix':
      return interfaceMatch(`${detector.prefix}+`, source);
  }
}

function interfaceMatch(name: string, source: Cidr | undefined): string {
  const match = `-i ${quoteWord(name)}`;
  return source ? `${sourceMatch(source)} ${match}` : match;
}
