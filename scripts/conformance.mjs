// npm run conformance: see test/conformance/suite/arguments.ts. Builds what the tests need, and starts them.
import { spawn } from 'node:child_process';
import { cpus } from 'node:os';
import { buildProgram, bundle } from './build.mjs';
import { debianSystem } from './conformance/debian.mjs';
import { imagesOfCluster } from './conformance/images.mjs';
import { pointsmanImage } from './conformance/pointsman-image.mjs';
import { clusterPrograms, KUBERNETES_VERSION } from './conformance/programs.mjs';
import { CONFORMANCE_PROGRAMS } from './programs.mjs';
import { errorMessage, installNpmPackages, installPrograms, isRoot, missingPrograms, root } from './setup.mjs';

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(errorMessage(error));
  process.exitCode = 2;
}

/** @param {readonly string[]} words */
async function main(words) {
  await installNpmPackages();
  const folder = `${root}test/conformance`;
  await bundle(
    { 'conformance-arguments': `${folder}/suite/arguments.ts`, conformance: `${folder}/main.ts` },
    `${root}build`,
  );
  /** @type {typeof import('../test/conformance/suite/arguments.ts')} */
  const { readArguments, USAGE } = await import(`${root}build/conformance-arguments.mjs`);
  const args = readArguments(words, cpus().length);
  if (!args) return console.log(USAGE);
  if (!isRoot) throw new Error('Only root can make the namespaces of the nodes');
  installPrograms(CONFORMANCE_PROGRAMS, 'The conformance tests need');
  const missing = missingPrograms(CONFORMANCE_PROGRAMS);
  if (missing.length > 0) throw new Error(`This machine lacks programs: ${missing.join(', ')}`);
  const parts = await partsOf(args);
  process.exitCode = await runTests(words, parts);
}

/** @param {import('../test/conformance/suite/arguments.ts').Arguments} args */
async function partsOf({ way, isUpstream }) {
  const programs = clusterPrograms();
  if (!isUpstream && way === 'process') await buildProgram();
  return {
    programs,
    images: imagesOfCluster(programs),
    cniPrograms: `${debianSystem()}/usr/lib/cni`,
    image: !isUpstream && way === 'pods' ? await pointsmanImage() : undefined,
    kubernetesVersion: KUBERNETES_VERSION,
  };
}

/**
 * @param {readonly string[]} words
 * @param {object} parts
 * @returns {Promise<number>} the exit status
 */
function runTests(words, parts) {
  const env = { ...process.env, CONFORMANCE_PARTS: JSON.stringify(parts) };
  const args = ['--enable-source-maps', 'build/conformance.mjs', ...words];
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env });
  // The tests remove their cluster first.
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => child.kill(signal));
  }
  return new Promise(resolve => child.on('exit', status => resolve(status ?? 1)));
}
