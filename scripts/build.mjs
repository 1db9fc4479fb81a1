// Bundles the program into build/kube-proxy.mjs. koffi stays outside the bundle, for it has a native part.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { installPackages, root } from './setup.mjs';

export const program = `${root}build/kube-proxy.mjs`;

export async function bundle(entryPoints, outdir) {
  const { build } = await import('esbuild');
  await build({
    entryPoints,
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external: ['koffi', 'esbuild'],
    sourcemap: true,
    // Bundled CommonJS packages call require for Node's own modules.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'warning',
    absWorkingDir: root,
  });
}

/** Builds the program if a source is newer than it. */
export async function buildProgram() {
  if (existsSync(program) && newest(`${root}src`) < statSync(program).mtimeMs) return;
  installPackages();
  await bundle({ 'kube-proxy': `${root}src/main.ts` }, `${root}build`);
}

function newest(folder) {
  return Math.max(
    ...readdirSync(folder, { withFileTypes: true, recursive: true }).map(
      entry => statSync(`${entry.parentPath ?? entry.path}/${entry.name}`).mtimeMs,
    ),
  );
}

if (process.argv[1] === import.meta.filename) await buildProgram();
