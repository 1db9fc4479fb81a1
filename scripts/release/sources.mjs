// Gets the packages of the lock: Debian packages from a mirror, npm packages from the registry of npm. Both are checked
// against the lock and kept in a cache.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { archiveOf, mirrorOf } from './debian-mirror.mjs';
import { readTar } from './tar.mjs';

const RENEW = 'npm run release -- --renew-lock';

/**
 * @param {string} name
 * @param {import('./lock.mjs').DebianPin} pin
 * @returns {Promise<Buffer>} the .deb file
 */
export function debianPackage(name, { version, path, sha256 }) {
  return cached(`${sha256}.deb`, async () => {
    const mirror = mirrorOf(archiveOf(path));
    const content = await download(`${mirror}/${path}`, `${name} ${version}`);
    const found = createHash('sha256').update(content).digest('hex');
    if (found !== sha256) throw new Error(`${mirror}/${path} has the SHA-256 ${found}, and the lock says ${sha256}`);
    return content;
  });
}

/**
 * @param {string} url
 * @param {string} what
 */
async function download(url, what) {
  const response = await fetch(url).catch(error => {
    throw new Error(`Could not download ${url}: ${(error.cause ?? error).message}`);
  });
  if (response.status === 404) {
    throw new Error(
      `The mirror no longer has ${what}, which the lock names: ${url}\n` +
        `Pin newer versions with: ${RENEW}\nOr set DEBIAN_MIRROR and DEBIAN_SECURITY_MIRROR to a mirror that keeps old versions.`,
    );
  }
  if (!response.ok) throw new Error(`Could not download ${url}: status ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}

/**
 * @param {string} name
 * @param {import('./lock.mjs').NpmPin} pin
 * @returns {Promise<ReadonlyMap<string, import('./tar.mjs').Entry & { type: 'file' }>>} the files of the package by path
 */
export async function npmPackage(name, { version, integrity }) {
  const archive = await cached(`${name.replaceAll('/', '-')}-${version}.tgz`, async () => pack(`${name}@${version}`));
  const found = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
  if (found !== integrity)
    throw new Error(`${name}@${version} has the checksum ${found}, and the lock says ${integrity}`);
  const files = readTar(gunzipSync(archive)).flatMap(entry => (entry.type === 'file' ? [entry] : []));
  return new Map(files.map(entry => [entry.path.replace(/^[^/]+\//, ''), entry]));
}

/**
 * Gets an npm package with npm, which knows the registry.
 * @param {string} spec
 */
function pack(spec) {
  const folder = mkdtempSync(join(cacheFolder(), 'npm-'));
  try {
    const { status, stderr, stdout } = spawnSync('npm', ['pack', spec, '--silent', '--pack-destination', folder], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`npm pack ${spec}: ${stderr}`);
    return readFileSync(join(folder, stdout.trim().split('\n').at(-1) ?? ''));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function cacheFolder() {
  const folder = `${process.env.XDG_CACHE_HOME || `${homedir()}/.cache`}/pointsman/release`;
  mkdirSync(folder, { recursive: true });
  return folder;
}

/**
 * @param {string} name
 * @param {() => Promise<Buffer>} get
 */
async function cached(name, get) {
  const path = `${cacheFolder()}/${name}`;
  if (existsSync(path)) return readFileSync(path);
  const content = await get();
  // A run that breaks off leaves no half file at `path`.
  writeFileSync(`${path}.${process.pid}`, content);
  renameSync(`${path}.${process.pid}`, path);
  return content;
}
