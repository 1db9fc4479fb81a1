// Finds or builds etcd and kube-apiserver for the tests with a real API server, and the programs that install a
// kube-proxy. Variables such as ETCD and KUBE_APISERVER may name built programs. Otherwise Go builds them from source,
// once for each version in test/control-plane/go.mod and test/helm/go.mod.
//   node scripts/control-plane.mjs    prints the paths of etcd and kube-apiserver
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { errorMessage, HOW_TO_INSTALL_NOTHING, mayInstall, root } from './setup.mjs';

/** @typedef {'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kubeadm' | 'kubectl' | 'helm'} Server */

const MODULE = `${root}test/control-plane`;
const PROMETHEUS_OPERATOR = 'github.com/prometheus-operator/prometheus-operator@v0.85.0';
const HELM_MODULE = `${root}test/helm`;

/** @type {Readonly<Record<Server, { readonly variable: string, readonly goPackage: string, readonly module?: string }>>} */
const SERVERS = {
  etcd: { variable: 'ETCD', goPackage: 'go.etcd.io/etcd/server/v3' },
  'kube-apiserver': { variable: 'KUBE_APISERVER', goPackage: 'k8s.io/kubernetes/cmd/kube-apiserver' },
  'kube-controller-manager': {
    variable: 'KUBE_CONTROLLER_MANAGER',
    goPackage: 'k8s.io/kubernetes/cmd/kube-controller-manager',
  },
  kubeadm: { variable: 'KUBEADM', goPackage: 'k8s.io/kubernetes/cmd/kubeadm' },
  kubectl: { variable: 'KUBECTL', goPackage: 'k8s.io/kubernetes/cmd/kubectl' },
  helm: { variable: 'HELM', goPackage: 'helm.sh/helm/v4/cmd/helm', module: HELM_MODULE },
};

/** Returns the paths of both programs. Builds those that are missing. Throws an Error that says what to do. */
export function controlPlanePrograms() {
  buildMissing(['etcd', 'kube-apiserver']);
  return { etcd: pathOf('etcd'), apiserver: pathOf('kube-apiserver') };
}

/**
 * Returns the paths of the programs that the tests of test/install/ need, by the variable that names each program.
 * Builds those that are missing. Throws an Error that says what to do.
 */
export function installationPrograms() {
  /** @type {readonly Server[]} */
  const names = ['kube-controller-manager', 'kubeadm', 'kubectl', 'helm'];
  buildMissing(names);
  const programs = Object.fromEntries(names.map(name => [SERVERS[name].variable, pathOf(name)]));
  return { ...programs, PROMETHEUS_OPERATOR_CRDS: process.env.PROMETHEUS_OPERATOR_CRDS || downloadDefinitions() };
}

/** Returns the folder with the definitions of the Prometheus operator's objects. Go keeps the download in its cache. */
function downloadDefinitions() {
  const { status, stdout, stderr, error } = spawnSync('go', ['mod', 'download', '-json', PROMETHEUS_OPERATOR], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`go mod download ${PROMETHEUS_OPERATOR}: ${error?.message ?? stdout + stderr}`);
  return `${JSON.parse(stdout).Dir}/example/prometheus-operator-crd`;
}

/** @param {readonly Server[]} names */
function buildMissing(names) {
  const missing = names.filter(name => !existsSync(pathOf(name)));
  if (missing.length > 0) buildAll(missing);
}

/** @param {Server} name */
function pathOf(name) {
  const { variable, module } = SERVERS[name];
  return (
    pathFromEnvironment(variable) ?? (module ? `${buildFolder()}/${name}-${helmVersion()}` : `${buildFolder()}/${name}`)
  );
}

/** @param {string} variable */
function pathFromEnvironment(variable) {
  const path = process.env[variable];
  if (!path) return undefined;
  try {
    accessSync(path, constants.X_OK);
  } catch (error) {
    throw new Error(`${variable}=${path} is not an executable program: ${errorMessage(error)}`);
  }
  return resolve(path);
}

function buildFolder() {
  const cache = process.env.XDG_CACHE_HOME || `${homedir()}/.cache`;
  return `${cache}/pointsman/control-plane-${kubernetesVersion()}`;
}

/** @param {readonly Server[]} names */
function buildAll(names) {
  const variables = names.map(name => `${SERVERS[name].variable}=PATH`).join(' ');
  if (!mayInstall) {
    throw new Error(`${names.join(' and ')} must be built, and installing is turned off. Set ${variables}`);
  }
  console.error(`The tests with a real API server need programs that this machine lacks: ${names.join(', ')}`);
  console.error(
    `Go builds them from source (Kubernetes ${kubernetesVersion()}), once, in about eight minutes: ${buildFolder()}`,
  );
  console.error(`${HOW_TO_INSTALL_NOTHING} To use built programs: ${variables}`);
  mkdirSync(buildFolder(), { recursive: true });
  for (const name of names) build(name);
}

/** @param {Server} name */
function build(name) {
  const path = pathOf(name);
  // The process id in the name keeps two builds apart, and a build that breaks off leaves no half program at `path`.
  const unfinished = `${path}.${process.pid}`;
  const { goPackage, variable, module = MODULE } = SERVERS[name];
  try {
    const { status, signal, error } = spawnSync(
      'go',
      ['build', '-trimpath', '-buildvcs=false', '-ldflags', linkerFlags(), '-o', unfinished, goPackage],
      { cwd: module, stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, CGO_ENABLED: '0' } },
    );
    if (error && 'code' in error && error.code === 'ENOENT') {
      throw new Error(
        `Go ${goVersion()} must build ${name}, and there is no program go on the PATH. Install Go, or set ${variable}=PATH`,
      );
    }
    if (status !== 0) throw new Error(`go build ${goPackage}: ${error?.message ?? signal ?? `exit status ${status}`}`);
    renameSync(unfinished, path);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** Without these flags the API server would report v0.0.0-master as its version. */
function linkerFlags() {
  const version = kubernetesVersion();
  const [major, minor] = version.slice(1).split('.');
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const settings = Object.entries(values).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  return ['-s', '-w', ...settings].join(' ');
}

function kubernetesVersion() {
  return readFromModule(/^\s*k8s\.io\/kubernetes (v\S+)/m);
}

function helmVersion() {
  return readFromModule(/^\s*helm\.sh\/helm\/v4 (v\S+)/m, HELM_MODULE);
}

function goVersion() {
  return readFromModule(/^go (\S+)/m);
}

/** @param {RegExp} pattern */
function readFromModule(pattern, module = MODULE) {
  const [, version] = pattern.exec(readFileSync(`${module}/go.mod`, 'utf8')) ?? [];
  if (!version) throw new Error(`${module}/go.mod has no line that matches ${pattern}`);
  return version;
}

if (process.argv[1] === import.meta.filename) {
  try {
    const { etcd, apiserver } = controlPlanePrograms();
    console.log(`${etcd}\n${apiserver}`);
  } catch (error) {
    console.error(errorMessage(error));
    process.exitCode = 1;
  }
}
