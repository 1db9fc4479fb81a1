// A control plane's two programs, for the tests with a real API server: those named by ETCD and KUBE_APISERVER, or else
// built from source, once for each version in test/control-plane/go.mod.
//   node scripts/control-plane.mjs    prints where they are
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { root } from './setup.mjs';

const MODULE = `${root}test/control-plane`;
const PACKAGES = {
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
};

/** Where the programs are; builds those that are neither named nor built yet. Throws an Error that says what is missing. */
export function controlPlaneBinaries() {
  return { etcd: named('ETCD') ?? built('etcd'), apiserver: named('KUBE_APISERVER') ?? built('kube-apiserver') };
}

function named(variable) {
  const path = process.env[variable];
  if (!path) return undefined;
  try {
    accessSync(path, constants.X_OK);
  } catch (error) {
    throw new Error(`${variable}=${path} is no program that can be run: ${error.message}`);
  }
  return resolve(path);
}

function built(name) {
  const version = kubernetesVersion();
  const folder = `${process.env.XDG_CACHE_HOME || `${homedir()}/.cache`}/pointsman/control-plane-${version}`;
  const path = `${folder}/${name}`;
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true });
    build(name, version, path);
  }
  return path;
}

function build(name, version, path) {
  console.error(
    `Building ${name} for a control plane of Kubernetes ${version} with Go; its two programs take about eight minutes the first time …`,
  );
  // A name of its own, so that neither a broken build nor two at once leave half a program behind.
  const unfinished = `${path}.${process.pid}`;
  try {
    const { status, signal, error } = spawnSync(
      'go',
      ['build', '-trimpath', '-buildvcs=false', '-ldflags', linkerFlags(version), '-o', unfinished, PACKAGES[name]],
      { cwd: MODULE, stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, CGO_ENABLED: '0' } },
    );
    if (error?.code === 'ENOENT') {
      throw new Error(
        `Building ${name} takes Go ${goVersion()}, which is not on the PATH. Install it, or name built programs: ETCD=… KUBE_APISERVER=…`,
      );
    }
    if (status !== 0)
      throw new Error(`go build ${PACKAGES[name]}: ${error?.message ?? signal ?? `exit status ${status}`}`);
    renameSync(unfinished, path);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** Without them the API server would say that it is v0.0.0-master. */
function linkerFlags(version) {
  const [major, minor] = version.slice(1).split('.');
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const settings = Object.entries(values).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  return ['-s', '-w', ...settings].join(' ');
}

function kubernetesVersion() {
  return fromModule(/^\s*k8s\.io\/kubernetes (v\S+)/m);
}

function goVersion() {
  return fromModule(/^go (\S+)/m);
}

function fromModule(pattern) {
  const [, version] = pattern.exec(readFileSync(`${MODULE}/go.mod`, 'utf8')) ?? [];
  if (!version) throw new Error(`${MODULE}/go.mod has no line like ${pattern}`);
  return version;
}

if (process.argv[1] === import.meta.filename) {
  try {
    const { etcd, apiserver } = controlPlaneBinaries();
    console.log(`${etcd}\n${apiserver}`);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
