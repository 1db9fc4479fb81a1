// Makes the single executable: Node with the program inside (Node's "single executable applications").
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contentOf, NODE_FLAGS, pinnedPackage } from './program.mjs';

/** Node looks for this mark in its own file, and changes its way to start if the mark ends with 1 instead of 0. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

const INJECT = `
const [api, executable, blob] = process.argv.slice(1);
require(api).inject(executable, 'NODE_SEA_BLOB', require('node:fs').readFileSync(blob), { sentinelFuse: '${FUSE}' });`;

/**
 * @param {import('./program.mjs').Program} program
 * @param {import('./lock.mjs').Architecture} architecture
 * @returns {Promise<Buffer>}
 */
export async function makeExecutable({ source, platforms }, architecture) {
  const { node, koffi } = platforms[architecture];
  const folder = mkdtempSync(join(tmpdir(), 'executable-'));
  try {
    const path = (/** @type {string} */ name) => join(folder, name);
    writeFileSync(path('program.cjs'), source);
    writeFileSync(path('koffi.node'), koffi);
    writeFileSync(path('postject.js'), contentOf(await pinnedPackage('postject'), 'dist/api.js'));
    writeFileSync(path('executable'), node);
    chmodSync(path('executable'), 0o755);
    const settings = {
      main: 'program.cjs',
      output: 'blob',
      disableExperimentalSEAWarning: true,
      // A code cache would only fit the processor that made it.
      useCodeCache: false,
      execArgv: NODE_FLAGS,
      // NODE_OPTIONS would change the program's flags.
      execArgvExtension: 'none',
      assets: { 'koffi.node': 'koffi.node' },
    };
    writeFileSync(path('settings.json'), JSON.stringify(settings));
    runNode(folder, ['--experimental-sea-config', 'settings.json']);
    runNode(folder, ['-e', INJECT, path('postject.js'), path('executable'), path('blob')]);
    return readFileSync(path('executable'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * This process must be the version of Node that goes into the executable.
 * @param {string} cwd
 * @param {readonly string[]} args
 */
function runNode(cwd, args) {
  const { status, stderr, signal } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`node ${args[0]}: ${signal ?? stderr}`);
}
