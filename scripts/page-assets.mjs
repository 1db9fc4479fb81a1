// Bundles the operator's page for the browser. The program contains the result, so that it needs no files beside it.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { root } from './setup.mjs';

/** @typedef {{ readonly path: string, readonly type: string, readonly content: Buffer }} File */

const APP = `${root}src/page/app/`;

/** What the browser loads. */
export async function buildPage() {
  const { build } = await import('esbuild');
  const { outputFiles, metafile } = await build({
    entryPoints: { app: `${APP}main.tsx` },
    outdir: '/',
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    target: ['chrome110', 'firefox115', 'safari16'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
    absWorkingDir: root,
  });
  /** @type {File[]} */
  const files = [
    { path: '/', type: 'text/html; charset=utf-8', content: readFileSync(`${APP}index.html`) },
    { path: '/icon.svg', type: 'image/svg+xml', content: readFileSync(`${APP}icon.svg`) },
    ...outputFiles.map(({ path, contents }) => ({
      path,
      type: path.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8',
      content: Buffer.from(contents),
    })),
  ];
  return { files, inputs: Object.keys(metafile.inputs) };
}

/** @param {File} file */
function assetOf({ path, type, content }) {
  const brotli = brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } });
  return {
    path,
    type,
    etag: `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`,
    gzip: gzipSync(content, { level: 9 }).toString('base64'),
    brotli: brotli.toString('base64'),
  };
}

/** @type {import('esbuild').Plugin} */
export const pageAssets = {
  name: 'page assets',
  setup(build) {
    build.onResolve({ filter: /^pointsman:page-assets$/ }, ({ path }) => ({ path, namespace: 'page' }));
    build.onLoad({ filter: /.*/, namespace: 'page' }, async () => {
      const { files } = await buildPage();
      return { contents: `export const ASSETS = ${JSON.stringify(files.map(assetOf))};`, loader: 'js' };
    });
  },
};
