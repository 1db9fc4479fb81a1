// What both README commands need before they can do their work. Each step does nothing when it was done before.
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, rmSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Installs the npm packages of the lock file, unless they are there. */
export function installPackages() {
  const installed = `${root}node_modules/.package-lock.json`;
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(`${root}package-lock.json`).mtimeMs) return;
  console.error('Installing npm packages …');
  // npm would empty the folder that a link leads to, which may be another checkout's.
  if (lstatSync(`${root}node_modules`, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(`${root}node_modules`);
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
}

/** Debian packages by the program that each is wanted for. Returns the programs that could not be had. */
export function installPrograms(programs) {
  const missing = () => Object.keys(programs).filter(program => !onPath(program));
  const wanted = [...new Set(missing().map(program => programs[program]))];
  if (wanted.length > 0 && process.getuid?.() === 0 && onPath('apt-get')) {
    console.error(`Installing Debian packages: ${wanted.join(' ')} …`);
    // Programs are wanted, not services: with this runlevel none is started.
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
    const quiet = { env, stdio: ['ignore', 'ignore', 'inherit'] };
    spawnSync('apt-get', ['update', '-qq'], quiet);
    spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...wanted], quiet);
  }
  return missing();
}

export function run(program, args, options = {}) {
  const { status, signal, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit', ...options });
  if (status === 0) return;
  console.error(`${program} ${args.join(' ')}: ${error?.message ?? signal ?? `exit status ${status}`}`);
  process.exit(status || 1);
}

function onPath(program) {
  const folders = `${process.env.PATH}:/usr/sbin:/sbin`.split(':');
  return folders.some(folder => existsSync(`${folder}/${program}`));
}
