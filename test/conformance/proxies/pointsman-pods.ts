import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import type { Cluster } from '../cluster/cluster.ts';
import { unifiedPath } from '../cluster/control-groups.ts';
import type { Mode } from '../suite/arguments.ts';
import { podKubeconfig, proxyConfiguration } from './configuration.ts';
import { IMAGE_NAME, importPointsman, type PointsmanImage } from './pointsman-image.ts';
import type { NodeProxies } from './proxy.ts';

const FOLDER = '/var/lib/kube-proxy';
/** The overlays of these modes have an init container that sets sysctls. */
const MODES_WITH_INIT: readonly Mode[] = ['iptables'];

/** Installs Pointsman as docs/install/fresh.md says: with the overlay of the mode, through kustomize. */
export async function startPointsmanPods(cluster: Cluster, mode: Mode, image: PointsmanImage): Promise<NodeProxies> {
  await importPointsman(cluster, image);
  const folder = `${cluster.folder}/my-cluster`;
  cpSync('deploy', `${cluster.folder}/deploy`, { recursive: true });
  mkdirSync(folder);
  writeFileSync(`${folder}/config.conf`, proxyConfiguration(mode, `${FOLDER}/kubeconfig.conf`));
  writeFileSync(`${folder}/kubeconfig.conf`, podKubeconfig());
  writeFileSync(`${folder}/kustomization.yaml`, JSON.stringify(kustomization(mode, image.version)));
  cluster.kubectl(['apply', '--kustomize', folder]);
  cluster.kubectl(['--namespace', 'kube-system', 'rollout', 'status', 'daemonset/pointsman', '--timeout=3m']);
  const selector = 'app.kubernetes.io/name=pointsman';
  return {
    saveLogs: save => {
      const flags = ['--namespace', 'kube-system', 'logs', '--selector', selector, '--tail=-1', '--prefix'];
      save('pointsman', cluster.kubectl(flags));
    },
  };
}

function kustomization(mode: Mode, version: string): object {
  const patch = patchOf(mode);
  return {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    namespace: 'kube-system',
    resources: [`../deploy/kustomize/overlays/${mode}`],
    images: [{ name: 'pointsman', newName: IMAGE_NAME, newTag: version }],
    configMapGenerator: [
      {
        name: 'pointsman',
        files: ['config.conf', 'kubeconfig.conf'],
        options: { disableNameSuffixHash: true },
      },
    ],
    patches: patch.length === 0 ? [] : [{ target: { kind: 'DaemonSet' }, patch: JSON.stringify(patch) }],
  };
}

function patchOf(mode: Mode): readonly object[] {
  const pod = '/spec/template/spec';
  const init = { op: 'add', path: `${pod}/initContainers`, value: [initContainer()] };
  // All nodes share one kernel, and the sockets of each node are in its own control group.
  const group = `--cgroup-root=${unifiedPath('$(NODE_NAME)')}`;
  return [
    ...(MODES_WITH_INIT.includes(mode) ? [] : [init]),
    ...(mode === 'ebpf' ? [{ op: 'add', path: `${pod}/containers/0/command/-`, value: group }] : []),
  ];
}

/** A test wants the time-outs of connections that a proxy sets. Only a privileged container can set them. */
function initContainer(): object {
  return {
    name: 'init',
    image: 'pointsman',
    imagePullPolicy: 'IfNotPresent',
    command: ['kube-proxy', `--config=${FOLDER}/config.conf`, '--hostname-override=$(NODE_NAME)', '--init-only'],
    env: [{ name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
    securityContext: { privileged: true },
    volumeMounts: [{ name: 'configuration', mountPath: FOLDER, readOnly: true }],
  };
}
