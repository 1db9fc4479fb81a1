import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { NODE } from '../control-plane/node-object.ts';
import type { KubeObject } from '../control-plane/objects.ts';
import type { ContainerOptions, Containers, Mount } from './container.ts';

const SECRETS = '/var/run/secrets/kubernetes.io/serviceaccount';

interface PodContainer {
  readonly command: readonly string[];
  readonly securityContext: { readonly privileged?: boolean };
  readonly volumeMounts: readonly { readonly mountPath: string; readonly name: string; readonly readOnly?: boolean }[];
}

interface Volume {
  readonly name: string;
  readonly configMap?: { readonly name: string };
  readonly hostPath?: { readonly path: string; readonly type?: string };
}

interface PodSpec {
  readonly containers: readonly [PodContainer];
  readonly serviceAccountName: string;
  readonly volumes: readonly Volume[];
}

/** The objects of kube-proxy, as kubeadm creates them for a cluster with this mode. */
export function kubeadmObjects(cluster: ControlPlane, mode: string): readonly KubeObject[] {
  const text = readFileSync('test/release/kubeadm.yaml', 'utf8')
    .replace('<SERVER>', cluster.server)
    .replace('<MODE>', mode)
    .replace('<IMAGE>', 'pointsman');
  return parseAllDocuments(text).map(document => document.toJS());
}

/**
 * What a kubelet would start for the DaemonSet that the API server has: the command, environment and volumes of its
 * pod, and the token of its service account. Paths of the host are in a folder of the test.
 */
export async function containerOf(cluster: ControlPlane, containers: Containers): Promise<ContainerOptions> {
  const daemonSet = await readObject(cluster, '/apis/apps/v1/namespaces/kube-system/daemonsets/kube-proxy');
  const spec = daemonSet.spec.template.spec as PodSpec;
  const [container] = spec.containers;
  const nodeName = NODE.metadata.name;
  const sources = new Map<string, string>();
  for (const volume of spec.volumes) sources.set(volume.name, await volumeFolder(cluster, containers, volume));
  const mounts: Mount[] = container.volumeMounts.map(({ mountPath, name, readOnly = false }) => ({
    source: sources.get(name) ?? '',
    destination: mountPath,
    readOnly,
  }));
  const secrets = await secretsFolder(cluster, containers, spec.serviceAccountName);
  return {
    namespace: cluster.namespace,
    args: container.command.map(word => word.replace('$(NODE_NAME)', nodeName)),
    env: { NODE_NAME: nodeName },
    mounts: [...mounts, { source: secrets, destination: SECRETS, readOnly: true }],
    privileged: container.securityContext.privileged ?? false,
  };
}

async function volumeFolder(cluster: ControlPlane, containers: Containers, volume: Volume): Promise<string> {
  const folder = containers.folder(volume.name);
  if (volume.configMap) {
    const path = `/api/v1/namespaces/kube-system/configmaps/${volume.configMap.name}`;
    const { data } = await readObject(cluster, path);
    for (const [name, text] of Object.entries(data)) writeFileSync(`${folder}/${name}`, text);
  } else if (volume.hostPath?.type === 'FileOrCreate') {
    writeFileSync(`${folder}/file`, '');
    return `${folder}/file`;
  } else {
    mkdirSync(folder, { recursive: true });
  }
  return folder;
}

async function secretsFolder(cluster: ControlPlane, containers: Containers, account: string): Promise<string> {
  const path = `/api/v1/namespaces/kube-system/serviceaccounts/${account}/token`;
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } };
  const { status, json } = await cluster.request('POST', path, request);
  if (status !== 201) throw new Error(`the API server gave no token: ${JSON.stringify(json)}`);
  const folder = containers.folder('secrets');
  writeFileSync(`${folder}/token`, (json as { status: { token: string } }).status.token);
  writeFileSync(`${folder}/ca.crt`, cluster.ca);
  return folder;
}

async function readObject(cluster: ControlPlane, path: string) {
  const { status, json } = await cluster.request('GET', path);
  if (status !== 200) throw new Error(`${path}: status ${status}`);
  return json as KubeObject & {
    readonly spec: { readonly template: { readonly spec: unknown } };
    readonly data: Readonly<Record<string, string>>;
  };
}
