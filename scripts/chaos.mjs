// npm run chaos [-- FLAGS]: a seeded random schedule of faults against the proxy, with a real API server and traffic.
// test/chaos has what it does. --help lists the flags.
import { spawnSync } from 'node:child_process';
import { buildProgram, bundle } from './build.mjs';
import { controlPlanePrograms } from './control-plane.mjs';
import { REFERENCE_PROGRAMS } from './programs.mjs';
import { errorMessage, installNpmPackages, installPrograms, isRoot, missingPrograms, root } from './setup.mjs';

const args = process.argv.slice(2);
const needsNothing = args.includes('--help') || args.includes('--schedule');

await installNpmPackages();
const programs = { ...REFERENCE_PROGRAMS, prlimit: 'util-linux', openssl: 'openssl' };
if (!needsNothing) {
  requirePrograms();
  await buildProgram();
}
await bundle({ chaos: `${root}test/chaos/main.ts` }, `${root}build`);
process.exit(runChaos());

function requirePrograms() {
  installPrograms(programs, 'The faults need');
  const missing = missingPrograms(programs);
  if (isRoot && missing.length === 0) return;
  console.error(isRoot ? `This machine lacks ${missing.join(', ')}` : 'Only root can run the proxy');
  process.exit(1);
}

function runChaos() {
  // The run itself cleans up and ends.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {});
  try {
    const env = needsNothing ? process.env : { ...process.env, ...controlPlanePrograms() };
    const command = ['--enable-source-maps', 'build/chaos.mjs', ...args];
    return spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit', env }).status ?? 1;
  } catch (error) {
    console.error(errorMessage(error));
    return 1;
  }
}
