import type { TrafficPolicy } from '../../api/index.ts';
import { quoteRule } from '../../kernel/iptables/index.ts';
import type { LocalDetector } from '../../model/index.ts';
import { type Cidr, cidrContains, type Family, formatCidr, type Ip, joinHostPort } from '../../net/index.ts';
import { type Frontend, planName, type ServicePortPlan } from '../../plan/index.ts';
import type { ChainName } from './names.ts';

/** A rule of one of our chains, as a line of iptables-restore without `-A CHAIN`. */
export interface PortalRule {
  readonly chain: ChainName;
  readonly text: string;
}

export interface RenderOptions {
  readonly family: Family;
  readonly localDetector: LocalDetector | undefined;
  /** Undefined: node ports are at every address of this machine. */
  readonly nodePortRanges: readonly Cidr[] | undefined;
  /** The address that proxies listen at; undefined: every one. */
  readonly listenIP: Ip | undefined;
  /** Where the node's own connections are sent, if proxies listen everywhere; undefined: to its loopback address. */
  readonly hostIP: Ip | undefined;
}

/** The proxy ports of a service port: for traffic of each policy that is forwarded. */
export type ProxyPorts = Readonly<Partial<Record<TrafficPolicy, number>>>;

/** Which proxies the frontends of a plan need. */
export function neededPolicies({ frontends, endpoints }: ServicePortPlan): ReadonlySet<TrafficPolicy> {
  const policies = new Set<TrafficPolicy>();
  for (const { action, policy, shortCircuit } of frontends) {
    if (action === 'forward') policies.add(policy);
    if (shortCircuit !== 'none' && endpoints.cluster.length > 0) policies.add('Cluster');
  }
  return policies;
}

/** The rules of a service port, in order. */
export function render(plan: ServicePortPlan, ports: ProxyPorts, options: RenderOptions): readonly PortalRule[] {
  const renderer = new Renderer(plan, ports, options);
  for (const frontend of plan.frontends) renderer.frontend(frontend);
  renderer.proxyPorts();
  return renderer.rules;
}

type Words = readonly string[];

class Renderer {
  readonly rules: PortalRule[] = [];
  readonly #ports: ProxyPorts;
  readonly #options: RenderOptions;
  readonly #protocol: string;
  readonly #comment: Words;
  readonly #isNodePort: boolean;

  constructor(plan: ServicePortPlan, ports: ProxyPorts, options: RenderOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#protocol = plan.port.protocol.toLowerCase();
    this.#comment = ['-m', 'comment', '--comment', planName(plan)];
    this.#isNodePort = plan.frontends.some(({ kind }) => kind === 'NodePort');
  }

  frontend(frontend: Frontend): void {
    const { ip, port } = frontend;
    const portal = ip !== undefined;
    const container = portal ? 'KUBE-PORTALS-CONTAINER' : 'KUBE-NODEPORT-CONTAINER';
    const host = portal ? 'KUBE-PORTALS-HOST' : 'KUBE-NODEPORT-HOST';
    for (const destination of this.#destinations(ip)) {
      const match = (source: Words) => [...source, ...destination, ...this.#at(port)];
      for (const source of this.#sources(frontend)) {
        this.#fromOutside(frontend, source, words => this.#rule(container, match(words.match), words.target));
        const policy = frontend.shortCircuit === 'none' ? frontend.policy : 'Cluster';
        const isForwarded = frontend.action === 'forward' || frontend.shortCircuit !== 'none';
        if (isForwarded) this.#rule(host, match(sourceWords(source)), this.#toHost(policy));
      }
    }
    this.#withoutEndpoints(frontend);
  }

  /** Proxy ports are for portals: nobody comes to them around the rules of portals. */
  proxyPorts(): void {
    for (const port of Object.values(this.#ports)) {
      const at = this.#at(port);
      if (this.#isNodePort) {
        const state = ['-m', 'state', '--state', 'NEW', '-m', 'conntrack', '--ctstate', 'DNAT'];
        this.#rule('KUBE-NODEPORT-NON-LOCAL', [...at, ...state], ['-j', 'ACCEPT']);
      }
      const direct = ['-m', 'addrtype', '--dst-type', 'LOCAL', '-m', 'conntrack', '!', '--ctstate', 'DNAT'];
      this.#rule('KUBE-PORTALS-FILTER', [...at, ...direct], ['-j', 'REJECT']);
    }
  }

  #fromOutside(
    { policy, action, shortCircuit }: Frontend,
    source: Cidr | undefined,
    add: (rule: { match: Words; target: Words | undefined }) => void,
  ): void {
    const { localDetector } = this.#options;
    if (shortCircuit === 'pods-and-node' && localDetector) {
      const match = podWords(localDetector, source);
      if (match) add({ match, target: this.#toContainer('Cluster') });
    }
    if (action === 'forward') add({ match: sourceWords(source), target: this.#toContainer(policy) });
  }

  /** What is not sent to a proxy keeps its destination, by which it is known here. */
  #withoutEndpoints(frontend: Frontend): void {
    const { ip, port, action, firewall } = frontend;
    for (const destination of this.#destinations(ip)) {
      const local = ip === undefined ? ['-m', 'addrtype', '--dst-type', 'LOCAL'] : [];
      const add = (source: Words, target: string) =>
        this.#rule('KUBE-PORTALS-FILTER', [...source, ...destination, ...this.#at(port), ...local], ['-j', target]);
      if (action !== 'forward') {
        for (const source of this.#sources(frontend)) add(sourceWords(source), action.toUpperCase());
      }
      if (firewall) add([], 'DROP');
    }
  }

  /** Who may connect; undefined: anyone. The node may reach its own load balancer from that address. */
  #sources({ ip, firewall }: Frontend): readonly (Cidr | undefined)[] {
    if (!firewall) return [undefined];
    const own = firewall.includesNode && ip !== undefined ? [oneAddress(ip)] : [];
    return [...firewall.sourceRanges, ...own];
  }

  #destinations(ip: Ip | undefined): readonly Words[] {
    if (ip !== undefined) return [['-d', formatCidr(oneAddress(ip))]];
    const { nodePortRanges } = this.#options;
    return nodePortRanges ? nodePortRanges.map(range => ['-d', formatCidr(range)]) : [[]];
  }

  #at(port: number): Words {
    return ['-p', this.#protocol, ...this.#comment, '-m', this.#protocol, '--dport', String(port)];
  }

  #toContainer(policy: TrafficPolicy): Words | undefined {
    const { listenIP } = this.#options;
    const port = this.#ports[policy];
    if (port === undefined) return undefined;
    if (listenIP === undefined) return ['-j', 'REDIRECT', '--to-ports', String(port)];
    return ['-j', 'DNAT', '--to-destination', joinHostPort(listenIP, port)];
  }

  #toHost(policy: TrafficPolicy): Words | undefined {
    const ip = this.#options.listenIP ?? this.#options.hostIP;
    const port = this.#ports[policy];
    if (port === undefined) return undefined;
    if (ip === undefined) return ['-j', 'REDIRECT', '--to-ports', String(port)];
    return ['-j', 'DNAT', '--to-destination', joinHostPort(ip, port)];
  }

  #rule(chain: ChainName, match: Words, target: Words | undefined): void {
    if (target) this.rules.push({ chain, text: quoteRule([...match, ...target]) });
  }
}

export function oneAddress(ip: Ip): Cidr {
  return { address: ip, prefix: ip.includes(':') ? 128 : 32 };
}

export function isOneAddress({ address, prefix }: Cidr): boolean {
  return prefix === oneAddress(address).prefix;
}

function sourceWords(source: Cidr | undefined): Words {
  return source ? ['-s', formatCidr(source)] : [];
}

/** Matches pods that may connect; undefined if there can be none. A rule has room for one source, so it is what both have. */
function podWords(detector: LocalDetector, source: Cidr | undefined): Words | undefined {
  switch (detector.kind) {
    case 'source-cidr': {
      if (!source) return sourceWords(detector.cidr);
      const [wide, narrow] = source.prefix < detector.cidr.prefix ? [source, detector.cidr] : [detector.cidr, source];
      return cidrContains(wide, narrow.address) ? sourceWords(narrow) : undefined;
    }
    case 'interface':
      return [...sourceWords(source), '-i', detector.name];
    case 'interface-prefix':
      return [...sourceWords(source), '-i', `${detector.prefix}+`];
  }
}

/** The plan while nobody serves: what was forwarded is refused. */
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
