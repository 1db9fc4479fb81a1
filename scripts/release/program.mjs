// The program of a release: one CommonJS file with everything but koffi's native part.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, COMPACT } from '../build.mjs';
import { buildPage } from '../page-assets.mjs';
import { root } from '../setup.mjs';
import { ARCHITECTURES, NODE_ARCHITECTURES, readLock } from './lock.mjs';
import { npmPackage } from './sources.mjs';

/**
 * @typedef {{ readonly name: string, readonly version: string, readonly license: string }} NpmComponent
 * @typedef {object} Program
 * @property {string} version
 * @property {number} time in seconds since 1970: of the commit
 * @property {string} revision the commit
 * @property {Buffer} source the bundle
 * @property {readonly NpmComponent[]} npmPackages what the bundle contains, and koffi
 * @property {Readonly<Record<import('./lock.mjs').Architecture, Platform>>} platforms
 * @typedef {{ readonly node: Buffer, readonly nodeLicense: Buffer, readonly koffi: Buffer }} Platform
 */

/** The flags of the first line of bin/kube-proxy, which says why they are needed. */
export const NODE_FLAGS = nodeFlags();

const KOFFI = fileURLToPath(new URL('koffi.cjs', import.meta.url));

function nodeFlags() {
  const [first = ''] = readFileSync(`${root}bin/kube-proxy`, 'utf8').split('\n');
  return first.split(' ').filter(word => word.startsWith('--'));
}

/**
 * Bundles the program.
 * @param {import('esbuild').BuildOptions} overrides
 */
export async function bundleProgram(overrides) {
  const folder = mkdtempSync(join(tmpdir(), 'bundle-'));
  try {
    const { metafile } = await bundle({ program: `${root}src/main.ts` }, folder, {
      ...COMPACT,
      sourcemap: false,
      metafile: true,
      outExtension: { '.js': '.out' },
      ...overrides,
    });
    // The page is a bundle inside the bundle.
    const inputs = [...Object.keys(metafile?.inputs ?? {}), ...(await buildPage()).inputs];
    return { source: readFileSync(`${folder}/program.out`), packages: packagesOf(inputs) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The program with koffi's native part beside it or inside the executable. */
export function bundleForRelease() {
  return bundleProgram({ format: 'cjs', target: 'node24', alias: { koffi: KOFFI }, external: ['esbuild'], banner: {} });
}

/** @returns {Promise<Readonly<Record<import('./lock.mjs').Architecture, Platform>>>} */
export async function readPlatforms() {
  const platforms = await Promise.all(ARCHITECTURES.map(readPlatform));
  return /** @type {Record<import('./lock.mjs').Architecture, Platform>} */ (
    Object.fromEntries(ARCHITECTURES.map((architecture, index) => [architecture, platforms[index]]))
  );
}

/**
 * @param {import('./lock.mjs').Architecture} architecture
 * @returns {Promise<Platform>}
 */
async function readPlatform(architecture) {
  const name = NODE_ARCHITECTURES[architecture];
  const node = await pinnedPackage(`node-linux-${name}`);
  const koffiName = `@koromix/koffi-linux-${name}`;
  const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8'));
  const koffi = await npmPackage(koffiName, packages[`node_modules/${koffiName}`]);
  return {
    node: contentOf(node, 'bin/node'),
    nodeLicense: contentOf(node, 'LICENSE'),
    koffi: contentOf(koffi, `linux_${name}/koffi.node`),
  };
}

/** @param {string} name */
export function pinnedPackage(name) {
  const pin = readLock().npm[name];
  if (!pin) throw new Error(`The lock has no npm package ${name}`);
  return npmPackage(name, pin);
}

/**
 * @param {Awaited<ReturnType<typeof npmPackage>>} files
 * @param {string} path
 */
export function contentOf(files, path) {
  const found = files.get(path);
  if (!found) throw new Error(`The npm package has no file ${path}`);
  return found.content;
}

/**
 * The npm packages that the paths lie in, and koffi.
 * @param {readonly string[]} paths
 * @returns {readonly NpmComponent[]}
 */
export function packagesOf(paths) {
  const names = paths.flatMap(path => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set([...names, 'koffi'])].sort().map(name => {
    const { version, license } = JSON.parse(readFileSync(`${root}node_modules/${name}/package.json`, 'utf8'));
    return { name, version, license };
  });
}
