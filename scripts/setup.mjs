// Installs what the npm commands need, and says before each installation what it installs and why.
// `--no-install` or POINTSMAN_NO_INSTALL=1 turns installing off.
import './node-version.mjs';
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, rmSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { installFromLock } from './npm-ci.mjs';

/** The folder of the checkout, with a slash at its end. */
export const root = fileURLToPath(new URL('..', import.meta.url));

export const NO_INSTALL_FLAG = '--no-install';

export const mayInstall = !process.argv.includes(NO_INSTALL_FLAG) && !process.env.POINTSMAN_NO_INSTALL;

/** For messages that announce an installation. */
export const HOW_TO_INSTALL_NOTHING = `To install nothing, add ${NO_INSTALL_FLAG} or set POINTSMAN_NO_INSTALL=1.`;

export const isRoot = process.getuid?.() === 0;

/** Installs the npm packages of the lock file into node_modules, unless they are up to date. Shows its progress. */
export async function installNpmPackages() {
  const installed = `${root}node_modules/.package-lock.json`;
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(`${root}package-lock.json`).mtimeMs) return;
  if (!mayInstall) {
    console.error(
      'The npm packages in node_modules are missing or out of date, and installing is turned off. Run: npm ci',
    );
    process.exit(1);
  }
  const { dependencies, devDependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const names = Object.keys({ ...dependencies, ...devDependencies });
  console.error(`Installing npm packages into node_modules, as package-lock.json lists them: ${names.join(', ')}`);
  // npm would empty the folder that a link leads to, which may be another checkout's.
  if (lstatSync(`${root}node_modules`, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(`${root}node_modules`);
  await installFromLock(root);
}

/**
 * Installs the Debian packages of the programs that this machine lacks, if this user may.
 * @param {import('./programs.mjs').Programs} packages
 * @param {string} purpose the beginning of the message: `The kernel tests need`
 */
export function installPrograms(packages, purpose) {
  const missing = missingPrograms(packages);
  if (missing.length === 0 || !mayInstall || !isRoot || !isOnPath('apt-get')) return;
  const names = [...new Set(missing.map(program => packages[program] ?? program))];
  console.error(`${purpose} programs that this machine lacks: ${missing.join(', ')}`);
  console.error(`Installing Debian packages with apt-get: ${names.join(', ')}`);
  console.error(HOW_TO_INSTALL_NOTHING);
  // RUNLEVEL=1 keeps the packages from starting services: only their programs are needed.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  for (const args of [
    ['update', '-qq'],
    ['install', '-y', '-qq', '--no-install-recommends', ...names],
  ]) {
    spawnSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  }
}

/** @param {import('./programs.mjs').Programs} packages */
export function missingPrograms(packages) {
  return Object.keys(packages).filter(program => !isOnPath(program));
}

/**
 * Runs a program, and ends this process if the program fails.
 * @param {string} program
 * @param {readonly string[]} args
 */
export function run(program, args) {
  const { status, signal, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit' });
  if (status === 0) return;
  console.error(`${program} ${args.join(' ')}: ${error?.message ?? signal ?? `exit status ${status}`}`);
  process.exit(status || 1);
}

/** @param {unknown} error */
export function errorMessage(error) {
  return error instanceof Error ? error.message : String(error);
}

/** @param {string} program */
function isOnPath(program) {
  const folders = `${process.env.PATH}:/usr/sbin:/sbin`.split(':');
  return folders.some(folder => existsSync(`${folder}/${program}`));
}
