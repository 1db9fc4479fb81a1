// Finds or builds the programs of Kubernetes for the tests with a real API server: etcd, kube-apiserver, upstream's
// kube-proxy of two versions, and programs that install a kube-proxy. Environment variables may name built programs.
// Otherwise Go builds them from source, once for each version in the go.mod files.
//   node scripts/control-plane.mjs    prints the variables and the paths of all programs
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { buildGoProgram, cacheFolder, kubernetesLinkerFlags, readFromModule } from './go-program.mjs';
import { errorMessage, HOW_TO_INSTALL_NOTHING, mayInstall, root } from './setup.mjs';

/**
 * @typedef {object} Program
 * @property {string} name
 * @property {string} variable
 * @property {string} goPackage
 * @property {string} module the folder of the go.mod that has the version
 */

const CONTROL_PLANE = `${root}test/control-plane`;
const NEXT_VERSION = `${root}test/upstream-v1.37`;
const PROXY = 'k8s.io/kubernetes/cmd/kube-proxy';

/** @type {readonly Program[]} */
const PROGRAMS = [
  { name: 'etcd', variable: 'ETCD', goPackage: 'go.etcd.io/etcd/server/v3', module: CONTROL_PLANE },
  {
    name: 'kube-apiserver',
    variable: 'KUBE_APISERVER',
    goPackage: 'k8s.io/kubernetes/cmd/kube-apiserver',
    module: CONTROL_PLANE,
  },
  { name: 'kube-proxy', variable: 'KUBE_PROXY_V1_36', goPackage: PROXY, module: CONTROL_PLANE },
  { name: 'kube-proxy', variable: 'KUBE_PROXY_V1_37', goPackage: PROXY, module: NEXT_VERSION },
];

/**
 * What the tests of test/install/ need beyond that.
 * @type {readonly Program[]}
 */
const INSTALLERS = [
  ...['kube-controller-manager', 'kubeadm', 'kubectl'].map(name => ({
    name,
    variable: name.replaceAll('-', '_').toUpperCase(),
    goPackage: `k8s.io/kubernetes/cmd/${name}`,
    module: CONTROL_PLANE,
  })),
  { name: 'helm', variable: 'HELM', goPackage: 'helm.sh/helm/v4/cmd/helm', module: `${root}test/helm` },
];
const PROMETHEUS_OPERATOR = 'github.com/prometheus-operator/prometheus-operator@v0.85.0';

/**
 * Returns the path of each program by its variable. Builds those that are missing. Throws an Error that says what to do.
 */
export function controlPlanePrograms() {
  return pathsOf(PROGRAMS);
}

/**
 * Returns the paths of the programs and definitions for the tests of test/install/, as above.
 * @returns {Readonly<Record<string, string>>}
 */
export function installationPrograms() {
  const definitions = process.env.PROMETHEUS_OPERATOR_CRDS || downloadDefinitions();
  return { ...pathsOf(INSTALLERS), PROMETHEUS_OPERATOR_CRDS: definitions };
}

/**
 * @param {readonly Program[]} programs
 * @returns {Readonly<Record<string, string>>}
 */
function pathsOf(programs) {
  const missing = programs.filter(program => !existsSync(pathOf(program)));
  if (missing.length > 0) buildAll(missing);
  return Object.fromEntries(programs.map(program => [program.variable, pathOf(program)]));
}

/** Returns the folder with the definitions of the Prometheus operator's objects. Go keeps the download in its cache. */
function downloadDefinitions() {
  const args = ['mod', 'download', '-json', PROMETHEUS_OPERATOR];
  // Without a proxy, Go only finds what is in its cache.
  const env = mayInstall ? process.env : { ...process.env, GOPROXY: 'off' };
  const { status, stdout, stderr, error } = spawnSync('go', args, { encoding: 'utf8', env });
  if (status !== 0) throw new Error(`go ${args.join(' ')}: ${error?.message ?? stdout + stderr}`);
  return `${JSON.parse(stdout).Dir}/example/prometheus-operator-crd`;
}

/** @param {Program} program */
function pathOf({ name, variable, module }) {
  return pathFromEnvironment(variable) ?? `${buildFolder(module)}/${name}`;
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

/** @param {string} module */
function buildFolder(module) {
  return `${cacheFolder()}/control-plane-${versionOf(module)}`;
}

/** @param {readonly Program[]} missing */
function buildAll(missing) {
  const variables = missing.map(({ variable }) => `${variable}=PATH`).join(' ');
  const names = missing.map(({ name, module }) => `${name} ${versionOf(module)}`).join(', ');
  if (!mayInstall) throw new Error(`${names} must be built, and installing is turned off. Set ${variables}`);
  console.error(`The tests with a real API server need programs that this machine lacks: ${names}`);
  console.error('Go builds them from source, once. That takes ten to twenty minutes.');
  console.error(`${HOW_TO_INSTALL_NOTHING} To use built programs: ${variables}`);
  for (const program of missing) build(program);
}

/** @param {Program} program */
function build({ name, variable, goPackage, module }) {
  const linkerFlags = kubernetesLinkerFlags(versionOf(module));
  const path = `${buildFolder(module)}/${name}`;
  buildGoProgram({ path, goPackage, module, linkerFlags, otherwise: `, or set ${variable}=PATH` });
}

/** @param {string} module */
function versionOf(module) {
  return readFromModule(module, /^(?:require)?\s*(?:k8s\.io\/kubernetes|helm\.sh\/helm\/v4) (v\S+)/m);
}

if (process.argv[1] === import.meta.filename) {
  try {
    const all = { ...controlPlanePrograms(), ...installationPrograms() };
    for (const [variable, path] of Object.entries(all)) console.log(`${variable}=${path}`);
  } catch (error) {
    console.error(errorMessage(error));
    process.exitCode = 1;
  }
}
