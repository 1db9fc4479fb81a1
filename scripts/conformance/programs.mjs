// Finds or builds the programs of the conformance tests' cluster. Go builds them from source, once for each version in
// the go.mod files of test/conformance/programs.
import { existsSync } from 'node:fs';
import { controlPlanePrograms, installationPrograms } from '../control-plane.mjs';
import { buildGoProgram, cacheFolder, kubernetesLinkerFlags, readFromModule } from '../go-program.mjs';
import { HOW_TO_INSTALL_NOTHING, mayInstall, root } from '../setup.mjs';

/** @typedef {import('../go-program.mjs').GoProgram & { readonly name: string }} Program */

const MODULES = `${root}test/conformance/programs`;
const KUBERNETES = `${MODULES}/kubernetes`;
const CONTAINERD = `${MODULES}/containerd`;
/** What the nodes do not use, and what would need C libraries. */
const CONTAINERD_TAGS = 'no_btrfs,no_devmapper,no_zfs,no_aufs,no_tracing';

/** The version of Kubernetes that is tested with. */
export const KUBERNETES_VERSION = readFromModule(KUBERNETES, /k8s\.io\/kubernetes (v\S+)/);
const containerdVersion = readFromModule(CONTAINERD, /containerd\/containerd\/v2 (v\S+)/);
const corednsVersion = readFromModule(`${MODULES}/coredns`, /coredns\/coredns (v\S+)/);

/** @returns {Readonly<Record<string, string>>} the path of each program by its name */
export function clusterPrograms() {
  const { ETCD, KUBE_APISERVER, KUBE_PROXY_V1_36 } = controlPlanePrograms();
  const { KUBE_CONTROLLER_MANAGER, KUBECTL } = installationPrograms();
  const built = ownPrograms();
  const missing = built.filter(({ path }) => !existsSync(path));
  if (missing.length > 0) buildAll(missing);
  return {
    etcd: ETCD ?? '',
    'kube-apiserver': KUBE_APISERVER ?? '',
    'kube-controller-manager': KUBE_CONTROLLER_MANAGER ?? '',
    kubectl: KUBECTL ?? '',
    'kube-proxy': KUBE_PROXY_V1_36 ?? '',
    ...Object.fromEntries(built.map(({ name, path }) => [name, path])),
  };
}

/** @returns {readonly Program[]} */
function ownPrograms() {
  const flags = kubernetesLinkerFlags(KUBERNETES_VERSION);
  const ofKubernetes = (/** @type {string} */ name, /** @type {string} */ goPackage, command = ['build']) => ({
    ...{ name, goPackage, command, module: KUBERNETES, linkerFlags: flags },
    path: `${cacheFolder()}/conformance-kubernetes-${KUBERNETES_VERSION}/${name}`,
  });
  const versionFlag = `-X github.com/containerd/containerd/v2/version.Version=${containerdVersion}`;
  return [
    ofKubernetes('kubelet', 'k8s.io/kubernetes/cmd/kubelet'),
    ofKubernetes('kube-scheduler', 'k8s.io/kubernetes/cmd/kube-scheduler'),
    // All tests of Kubernetes. They are the test files of the package, so they are built as a test.
    ofKubernetes('e2e.test', 'k8s.io/kubernetes/test/e2e', ['test', '-c', '-vet=off']),
    ofKubernetes('ginkgo', 'github.com/onsi/ginkgo/v2/ginkgo'),
    ofKubernetes('agnhost', 'k8s.io/kubernetes/test/images/agnhost'),
    ofKubernetes('regression-issue-74839', 'k8s.io/kubernetes/test/images/regression-issue-74839'),
    ...['containerd', 'containerd-shim-runc-v2', 'ctr'].map(name => ({
      name,
      goPackage: `github.com/containerd/containerd/v2/cmd/${name}`,
      module: CONTAINERD,
      command: ['build', '-tags', CONTAINERD_TAGS],
      linkerFlags: `-s -w ${versionFlag}`,
      path: `${cacheFolder()}/conformance-containerd-${containerdVersion}/${name}`,
    })),
    ofFolder('coredns', corednsVersion),
    ofFolder('pause', 'v1'),
  ];
}

/**
 * A small program of test/conformance/programs.
 * @param {string} name
 * @param {string} version
 * @returns {Program}
 */
function ofFolder(name, version) {
  const path = `${cacheFolder()}/conformance-${name}-${version}/${name}`;
  return { name, path, goPackage: '.', module: `${MODULES}/${name}`, linkerFlags: '-s -w' };
}

/** @param {readonly Program[]} missing */
function buildAll(missing) {
  const names = missing.map(({ name }) => name).join(', ');
  if (!mayInstall) throw new Error(`${names} must be built, and installing is turned off`);
  console.error(`The conformance tests need programs that this machine lacks: ${names}`);
  console.error('Go builds them from source, once. That takes about fifteen minutes on two cores.');
  console.error(HOW_TO_INSTALL_NOTHING);
  for (const program of missing) {
    console.error(`  ${program.name}`);
    buildGoProgram(program);
  }
}
