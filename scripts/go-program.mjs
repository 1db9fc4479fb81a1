// Builds a program with Go from the modules that a go.mod file pins.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';

/**
 * @typedef {object} GoProgram
 * @property {string} path where the program will be
 * @property {string} goPackage
 * @property {string} module the folder of the go.mod that has the version
 * @property {string} linkerFlags
 * @property {string} [otherwise] what the user can do on a machine without Go
 * @property {readonly string[]} [command] the default is `go build`
 */

/** The folder of everything that is built or downloaded once. */
export function cacheFolder() {
  return `${process.env.XDG_CACHE_HOME || `${homedir()}/.cache`}/pointsman`;
}

/** @param {GoProgram} program */
export function buildGoProgram({ path, goPackage, module, linkerFlags, otherwise = '', command = ['build'] }) {
  mkdirSync(dirname(path), { recursive: true });
  // The process id in the name keeps two builds apart, and a build that breaks off leaves no half program at `path`.
  const unfinished = `${path}.${process.pid}`;
  const flags = ['-trimpath', '-buildvcs=false', '-ldflags', linkerFlags, '-o', unfinished];
  try {
    const { status, signal, error } = spawnSync('go', [...command, ...flags, goPackage], {
      cwd: module,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, CGO_ENABLED: '0' },
    });
    if (error && 'code' in error && error.code === 'ENOENT') {
      const version = readFromModule(module, /^go (\S+)/m);
      throw new Error(
        `Go ${version} must build ${goPackage}, and there is no program go on the PATH. Install Go${otherwise}`,
      );
    }
    if (status !== 0) {
      throw new Error(`go ${command[0]} ${goPackage}: ${error?.message ?? signal ?? `exit status ${status}`}`);
    }
    renameSync(unfinished, path);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/**
 * Without these flags the programs of Kubernetes would report v0.0.0-master as their version.
 * @param {string} version
 */
export function kubernetesLinkerFlags(version) {
  const [major, minor] = version.slice(1).split('.');
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const settings = Object.entries(values).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  return ['-s', '-w', ...settings].join(' ');
}

/**
 * @param {string} module
 * @param {RegExp} pattern
 */
export function readFromModule(module, pattern) {
  const [, version] = pattern.exec(readFileSync(`${module}/go.mod`, 'utf8')) ?? [];
  if (!version) throw new Error(`${module}/go.mod has no line that matches ${pattern}`);
  return version;
}
