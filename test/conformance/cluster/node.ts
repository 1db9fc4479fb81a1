import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Host } from './addresses.ts';
import { Background } from './background.ts';
import { NodeControlGroup } from './control-groups.ts';
import type { ClusterNetwork } from './network.ts';
import {
  cniConfiguration,
  containerdConfiguration,
  initScript,
  kubeletConfiguration,
  SHOWN_SYSCTLS,
} from './node-files.ts';
import { run, runBeside } from './run.ts';

const SOCKET = '/run/containerd/containerd.sock';

export interface NodeOptions {
  readonly host: Host;
  readonly network: ClusterNetwork;
  /** The folder of the cluster, with the kubeconfig of the node. */
  readonly folder: string;
  /** The folder of the CNI plugins. */
  readonly cniPrograms: string;
}

/** A node: namespaces of its own, with containerd and kubelet. The kernel ends all its processes with the first one. */
export class ClusterNode {
  readonly host: Host;
  readonly folder: string;
  readonly controlGroup: NodeControlGroup;
  readonly #options: NodeOptions;
  readonly #first: Background;
  readonly #programs: Background[] = [];
  #firstPid = 0;

  constructor(options: NodeOptions) {
    const { host, network, folder } = options;
    this.#options = options;
    this.host = host;
    this.folder = `${folder}/${host.name}`;
    for (const name of ['lib/kubelet', 'lib/containerd', 'lib/cni', 'log', 'cni', 'sysctl']) {
      mkdirSync(`${this.folder}/${name}`, { recursive: true });
    }
    for (const [path, value] of Object.entries(SHOWN_SYSCTLS)) {
      writeFileSync(`${this.folder}/sysctl/${path.replaceAll('/', '-')}`, `${value}\n`);
    }
    writeFileSync(`${this.folder}/resolv.conf`, '');
    this.controlGroup = new NodeControlGroup(host.name);
    const unshare = ['unshare', '--mount', '--uts', '--ipc', '--pid', '--fork', '--kill-child'];
    const command = [...unshare, 'bash', '-c', initScript(host.name, this.folder)];
    this.#first = new Background(host.name, network.inside(host, command), { log: this.#log('node') });
  }

  /** Starts containerd, imports the images, and starts the kubelet. */
  async start(images: string): Promise<void> {
    await this.#first.ready(() => existsSync(`${this.folder}/ready`));
    const { pid } = this.#first;
    this.#firstPid = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
    const { cniPrograms, host, folder } = this.#options;
    const configuration = `${this.folder}/containerd.toml`;
    writeFileSync(configuration, containerdConfiguration(cniPrograms, `${this.folder}/cni`));
    const containerd = this.background('containerd', ['containerd', '--config', configuration, '--log-level', 'warn']);
    await containerd.ready(() => this.#has(SOCKET));
    await this.importImages(images);
    const kubelet = `${this.folder}/kubelet.json`;
    writeFileSync(kubelet, kubeletConfiguration(this.controlGroup.path, `${this.folder}/resolv.conf`));
    this.background('kubelet', [
      ...['kubelet', '--config', kubelet, '--kubeconfig', `${folder}/${host.name}.conf`],
      ...['--hostname-override', host.name, '--node-ip', `${host.v4},${host.v6}`, '--root-dir', '/var/lib/kubelet'],
    ]);
  }

  /** The kubelet calls the node ready when it finds this file. */
  writePodNetwork(ranges: readonly string[]): void {
    writeFileSync(`${this.folder}/cni/10-pods.conflist`, cniConfiguration(ranges));
  }

  async importImages(archive: string): Promise<void> {
    const command = ['ctr', '--namespace', 'k8s.io', 'images', 'import', '--local', archive];
    const [program = '', ...args] = this.#inside(command);
    await runBeside(program, args);
  }

  /** Gives an image another name. */
  tagImage(name: string, newName: string): void {
    this.run(['ctr', '--namespace', 'k8s.io', 'images', 'tag', '--force', name, newName]);
  }

  /** Runs a command in the node, and returns what it printed. */
  run(command: readonly string[]): string {
    const [program = '', ...args] = this.#inside(command);
    return run(program, args);
  }

  background(name: string, command: readonly string[]): Background {
    const program = new Background(`${name} of ${this.host.name}`, this.#inside(command), { log: this.#log(name) });
    this.#programs.push(program);
    return program;
  }

  async close(): Promise<void> {
    if (this.#firstPid > 0) kill(this.#firstPid);
    await this.#first.stop('SIGKILL');
    await Promise.all(this.#programs.map(program => program.stop('SIGKILL')));
    await this.controlGroup.remove();
  }

  #has(path: string): boolean {
    try {
      this.run(['test', '-e', path]);
      return true;
    } catch {
      return false;
    }
  }

  #inside(command: readonly string[]): readonly string[] {
    return ['nsenter', '-t', `${this.#firstPid}`, '-m', '-u', '-p', '-n', '-i', '--', ...command];
  }

  #log(name: string): string {
    return `${this.#options.folder}/logs/${name}-${this.host.name}.log`;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
