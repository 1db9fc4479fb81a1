// npm run chaos [-- FLAGS]: a seeded random schedule of faults against the proxy, with a real API server and traffic.
// test/chaos has what it does. --help lists the flags.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
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
process.exit(await runChaos());

function requirePrograms() {
  installPrograms(programs, 'The faults need');
  const missing = missingPrograms(programs);
  if (isRoot && missing.length === 0) return;
  console.error(isRoot ? `This machine lacks ${missing.join(', ')}` : 'Only root can run the proxy');
  process.exit(1);
}

async function runChaos() {
  try {
    const env = needsNothing ? process.env : { ...process.env, ...controlPlanePrograms() };
    const command = ['--enable-source-maps', 'build/chaos.mjs', ...args];
    const child = spawn(process.execPath, command, { cwd: root, stdio: 'inherit', env });
    // The run itself cleans up and ends.
    process.on('SIGINT', () => child.kill('SIGINT'));
    process.on('SIGTERM', () => child.kill('SIGTERM'));
    const [status] = await once(child, 'exit');
    return status ?? 1;
  } catch (error) {
    console.error(errorMessage(error));
    return 1;
  }
}
