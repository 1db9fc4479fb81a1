// Bundles the program into build/kube-proxy.mjs. koffi stays outside of the bundle, because it has a native part.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { logPlaces } from './log-places.mjs';
import { versionCheck } from './node-version.mjs';
import { pageAssets } from './page-assets.mjs';
import { installNpmPackages, root } from './setup.mjs';

/** Bundled CommonJS packages call require for Node's own modules. */
const REQUIRE = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

/** Where the program is after it was built. */
export const program = `${root}build/kube-proxy.mjs`;

/** V8 keeps the text of the program in memory. Names stay, so that stacks and profiles are readable. */
export const COMPACT = { minifyWhitespace: true, minifySyntax: true };

/**
 * @param {Readonly<Record<string, string>>} entryPoints the TypeScript file for each name of a bundle
 * @param {string} outputFolder
 * @param {import('esbuild').BuildOptions} overrides
 */
export async function bundle(entryPoints, outputFolder, overrides = {}) {
  const { build } = await import('esbuild');
  return await build({
    entryPoints,
    outdir: outputFolder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external: ['koffi', 'esbuild', 'playwright-core'],
    sourcemap: true,
    plugins: [logPlaces, pageAssets],
    banner: { js: `${versionCheck}\n${REQUIRE}` },
    logLevel: 'warning',
    absWorkingDir: root,
    ...overrides,
  });
}

/** Builds the program if a source file is newer than it. */
export async function buildProgram() {
  if (existsSync(program) && newestTime(`${root}src`) < statSync(program).mtimeMs) return;
  await installNpmPackages();
  await bundle({ 'kube-proxy': `${root}src/main.ts` }, `${root}build`, COMPACT);
}

/** @param {string} folder */
function newestTime(folder) {
  const times = readdirSync(folder, { withFileTypes: true, recursive: true }).map(
    // Node before 20.12 has `path` instead of `parentPath`.
    entry => statSync(`${entry.parentPath ?? entry.path}/${entry.name}`).mtimeMs,
  );
  return Math.max(...times);
}

if (process.argv[1] === import.meta.filename) await buildProgram();
