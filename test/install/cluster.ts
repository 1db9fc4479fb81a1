import assert from 'node:assert/strict';
import { ControlPlane } from '../control-plane/control-plane.ts';
import type { KubeObject } from '../control-plane/objects.ts';
import { Program } from '../control-plane/program.ts';
import { NODE_IP } from '../support/namespaces.ts';
import { PlayedKubelets, type Pod } from './kubelets.ts';
import { blocksOf } from './page.ts';
import { programFrom, Shell } from './shell.ts';

export const NODES = ['node-a', 'node-b'];
/** Pods without a service account of their own need it. */
const DEFAULT_ACCOUNT = { name: 'default', namespace: 'kube-system' };
/** Annotations in which the API server counts changes, and in which kubectl remembers what it applied. */
const BOOKKEEPING = ['deprecated.daemonset.template.generation', 'kubectl.kubernetes.io/last-applied-configuration'];
export const FORMER_IMAGE = 'registry.example.com/kube-proxy:v1.36.4';

/**
 * A cluster to install a proxy in: an API server, the DaemonSet controller, two nodes whose kubelets are played, and the
 * shell of an operator.
 */
export class InstallCluster {
  readonly controlPlane: ControlPlane;
  readonly shell: Shell;
  readonly #asked = new Set<string>();
  readonly #kubelets: PlayedKubelets;
  readonly #controllers: Program;

  private constructor(controlPlane: ControlPlane) {
    this.controlPlane = controlPlane;
    const { namespace } = controlPlane;
    const kubeconfig = controlPlane.kubeconfig('admin');
    this.shell = new Shell(namespace, kubeconfig);
    this.#kubelets = new PlayedKubelets(controlPlane);
    this.#controllers = new Program('kube-controller-manager', controllersCommand(kubeconfig), { namespace });
  }

  static async start(): Promise<InstallCluster> {
    const controlPlane = await ControlPlane.start({ apiserverArgs: ['--allow-privileged=true'] });
    for (const name of NODES) await controlPlane.apply(nodeObject(name));
    await controlPlane.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: DEFAULT_ACCOUNT });
    return new InstallCluster(controlPlane);
  }

  /** What `kubeadm init` does for kube-proxy. kubeadm itself does it. */
  installWithKubeadm(): Promise<string> {
    const network = `--apiserver-advertise-address ${NODE_IP} --pod-network-cidr 10.244.0.0/16`;
    const image = '--kubernetes-version v1.36.4 --image-repository registry.example.com';
    return this.shell.run(`kubeadm init phase addon kube-proxy --kubeconfig "$KUBECONFIG" ${network} ${image}`);
  }

  /** The blocks of a page under a heading that can run. Throws if there is none. */
  blocks(page: string, heading: string): readonly string[] {
    const blocks = blocksOf(page).filter(block => block.heading === heading && block.notRun === undefined);
    if (blocks.length === 0) throw new Error(`docs/install/${page}.md has no block to run under ${heading}`);
    for (const { text } of blocks) this.#asked.add(text);
    return blocks.map(({ text }) => text);
  }

  /** Runs the blocks of a page under the headings, and returns their output. Rejects if a block fails. */
  async runPage(page: string, ...headings: readonly string[]): Promise<string> {
    let output = '';
    for (const text of headings.flatMap(heading => this.blocks(page, heading))) output += await this.shell.run(text);
    return output;
  }

  /** Throws if a test asked for fewer blocks than the page has. */
  assertRanAll(page: string): void {
    const left = blocksOf(page).filter(({ text, notRun }) => notRun === undefined && !this.#asked.has(text));
    if (left.length > 0) throw new Error(`no test ran these blocks:\n${left.map(({ text }) => text).join('\n\n')}`);
  }

  /** The image of the proxy on each node, once every DaemonSet has the pods that it should have. */
  async images(): Promise<Readonly<Record<string, readonly string[]>>> {
    await this.settled();
    const pods = (await this.#kubelets.pods()).filter(({ spec }) => spec.containers[0]?.name === 'kube-proxy');
    const imagesOn = (node: string) => pods.filter(({ spec }) => spec.nodeName === node).map(imageOf);
    return Object.fromEntries(NODES.map(node => [node, imagesOn(node)]));
  }

  /** Resolves when all pods are as their DaemonSets say, and no pod is left of a deleted DaemonSet. */
  async settled(): Promise<void> {
    const isDone = async () => {
      const daemonSets = await this.#daemonSets();
      const pods = (await this.#kubelets.pods()).length;
      return daemonSets.every(isSettled) && pods === sum(daemonSets.map(wantedPods));
    };
    await this.#controllers.waitFor('settle', isDone, 30_000, 100);
  }

  /** The object without fields that change on their own. */
  async read(kind: string, name: string, namespace = 'kube-system'): Promise<KubeObject | undefined> {
    const apiVersion = API_VERSIONS[kind] ?? 'v1';
    const object = await this.controlPlane.read({ apiVersion, kind, metadata: { name, namespace } });
    if (object === undefined) return undefined;
    const { resourceVersion, generation, managedFields, annotations = {}, ...metadata } = object.metadata;
    const notes = Object.entries(annotations as object).filter(([name]) => !BOOKKEEPING.includes(name));
    const { status, ...rest } = object;
    return { ...rest, metadata: { ...metadata, annotations: Object.fromEntries(notes) } };
  }

  async close(): Promise<void> {
    await this.#kubelets.close();
    await this.#controllers.stop('SIGKILL');
    await this.controlPlane.close();
    this.shell.close();
  }

  async #daemonSets(): Promise<readonly DaemonSet[]> {
    const { json } = await this.controlPlane.request('GET', '/apis/apps/v1/daemonsets');
    return (json as { readonly items: readonly DaemonSet[] }).items;
  }
}

/** The texts of a ConfigMap. */
export function dataOf(configMap: KubeObject | undefined): Readonly<Record<string, string>> {
  assert.equal(configMap?.kind, 'ConfigMap');
  return configMap?.data as Readonly<Record<string, string>>;
}

const API_VERSIONS: Readonly<Record<string, string>> = {
  DaemonSet: 'apps/v1',
  ClusterRole: 'rbac.authorization.k8s.io/v1',
  ClusterRoleBinding: 'rbac.authorization.k8s.io/v1',
  PodMonitor: 'monitoring.coreos.com/v1',
  PrometheusRule: 'monitoring.coreos.com/v1',
};

interface DaemonSet {
  readonly metadata: { readonly generation: number };
  readonly spec: { readonly updateStrategy: { readonly type: string } };
  readonly status: Readonly<Record<string, number | undefined>>;
}

function isSettled({ metadata, spec, status }: DaemonSet): boolean {
  const wanted = wantedPods({ status });
  const isUpdated = spec.updateStrategy.type === 'OnDelete' || (status.updatedNumberScheduled ?? 0) === wanted;
  const isAvailable = (status.numberAvailable ?? 0) === wanted && (status.numberMisscheduled ?? 0) === 0;
  return status.observedGeneration === metadata.generation && isUpdated && isAvailable;
}

function wantedPods({ status }: Pick<DaemonSet, 'status'>): number {
  return status.desiredNumberScheduled ?? 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function imageOf({ spec: { containers } }: Pod): string {
  return containers[0]?.image ?? '';
}

function controllersCommand(kubeconfig: string): readonly string[] {
  return [
    programFrom('KUBE_CONTROLLER_MANAGER'),
    `--kubeconfig=${kubeconfig}`,
    '--controllers=daemonset-controller,garbage-collector-controller',
    '--leader-elect=false',
    '--secure-port=0',
  ];
}

function nodeObject(name: string): KubeObject {
  const labels = { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64', 'kubernetes.io/hostname': name };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
    status: {
      conditions: [{ type: 'Ready', status: 'True' }],
      allocatable: { pods: '110' },
      capacity: { pods: '110' },
    },
  };
}
