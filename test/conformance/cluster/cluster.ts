import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { CONTROL_PLANE, DNS_IP, type Host, NODES } from './addresses.ts';
import { Background, type BackgroundOptions } from './background.ts';
import { CONTROL_PLANE_COMMANDS } from './control-plane-commands.ts';
import { writeCredentials } from './credentials.ts';
import { clusterFolder } from './leftovers.ts';
import { LoadBalancer } from './load-balancer.ts';
import { ClusterNetwork } from './network.ts';
import { ClusterNode } from './node.ts';
import { run, waitUntil } from './run.ts';

export interface ClusterParts {
  /** The path of each program by its name. */
  readonly programs: Readonly<Record<string, string>>;
  /** The archive with the images of the cluster and of the tests. */
  readonly images: string;
  /** The folder of the CNI plugins. */
  readonly cniPrograms: string;
}

/** A Kubernetes cluster on this machine. Each node is a set of namespaces. It has no kube-proxy yet. */
export class Cluster {
  readonly folder = clusterFolder(process.pid);
  readonly network = new ClusterNetwork();
  readonly nodes: readonly ClusterNode[];
  readonly #parts: ClusterParts;
  readonly #programs: Background[] = [];
  #loadBalancer: LoadBalancer | undefined;

  constructor(parts: ClusterParts) {
    this.#parts = parts;
    mkdirSync(`${this.folder}/logs`, { recursive: true });
    mkdirSync(`${this.folder}/bin`);
    for (const [name, path] of Object.entries(parts.programs)) symlinkSync(path, `${this.folder}/bin/${name}`);
    // The programs start one another by name.
    process.env.PATH = `${this.folder}/bin:${process.env.PATH}:/usr/sbin:/sbin`;
    const { network, folder } = this;
    const { cniPrograms } = parts;
    this.nodes = NODES.map(host => new ClusterNode({ host, network, folder, cniPrograms }));
  }

  get kubeconfig(): string {
    return `${this.folder}/admin.conf`;
  }

  async start(report: (step: string) => void): Promise<void> {
    report('control plane');
    await this.#startControlPlane();
    report('nodes');
    await Promise.all(this.nodes.map(node => node.start(this.#parts.images)));
    report('pod network');
    for (const node of this.nodes) await this.#connectPods(node);
    report('DNS');
    this.apply(readFileSync('test/conformance/cluster/coredns.yaml', 'utf8').replaceAll('<DNS_IP>', DNS_IP));
    this.#loadBalancer = new LoadBalancer(this.network.of(CONTROL_PLANE), this.kubeconfig);
    await waitUntil('nodes are ready', () => this.nodes.every(({ host }) => this.#isReady(host)));
  }

  kubectl(args: readonly string[], input?: string): string {
    const [program = '', ...rest] = this.kubectlCommand(args);
    return run(program, rest, input === undefined ? {} : { input });
  }

  kubectlCommand(args: readonly string[]): readonly string[] {
    return this.network.inside(CONTROL_PLANE, ['kubectl', '--kubeconfig', this.kubeconfig, ...args]);
  }

  apply(manifests: string): void {
    this.kubectl(['apply', '--filename', '-'], manifests);
  }

  /** Runs a program in the network of a host until it ends, or until the cluster is removed. */
  background(name: string, host: Host, command: readonly string[], options: BackgroundOptions): Background {
    const program = new Background(name, this.network.inside(host, command), options);
    this.#programs.push(program);
    return program;
  }

  /** A path through which other programs enter the network of the control plane. */
  get networkPath(): string {
    return this.network.of(CONTROL_PLANE).path;
  }

  /** Ends all processes and removes all files. The logs are moved to a folder. */
  async close(logFolder: string): Promise<void> {
    await this.#loadBalancer?.close();
    await Promise.all(this.nodes.map(node => node.close()));
    for (const program of this.#programs.toReversed()) await program.stop('SIGKILL');
    this.network.close();
    cpSync(`${this.folder}/logs`, `${logFolder}/logs`, { recursive: true });
    // Node needs several times as long for so many files.
    run('rm', ['-rf', this.folder]);
  }

  async #startControlPlane(): Promise<void> {
    writeCredentials(this.folder);
    for (const [name, command] of Object.entries(CONTROL_PLANE_COMMANDS)) {
      const options = { log: `${this.folder}/logs/${name}.log`, cwd: this.folder };
      const program = this.background(name, CONTROL_PLANE, command, options);
      if (name === 'kube-apiserver') await program.ready(() => this.#answers());
    }
  }

  #answers(): boolean {
    try {
      this.kubectl(['get', '--raw', '/readyz']);
      return true;
    } catch {
      return false;
    }
  }

  async #connectPods(node: ClusterNode): Promise<void> {
    const { host } = node;
    const read = () => this.kubectl(['get', 'node', host.name, '-o', 'jsonpath={.spec.podCIDRs[*]}']).trim().split(' ');
    await waitUntil(`${host.name} has pod ranges`, () => read().length === 2);
    const ranges = read();
    this.network.routeToPods(host, ranges);
    node.writePodNetwork(ranges);
    const zone = `topology.kubernetes.io/zone=zone-of-${host.name}`;
    this.kubectl(['label', '--overwrite', 'node', host.name, zone, 'topology.kubernetes.io/region=region']);
  }

  #isReady({ name }: Host): boolean {
    const path = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}';
    return this.kubectl(['get', 'node', name, '-o', path]) === 'True';
  }
}
