// npm start [-- FLAGS]: runs the demo, a live proxy in a small cluster of network namespaces, with the manifests in
// examples/. Only root may make network namespaces. A user who is not root becomes root of a user namespace, if the
// machine allows that.
import { spawn, spawnSync } from 'node:child_process';
import { relative } from 'node:path';
import { buildProgram, program } from './build.mjs';
import { isRoot, NO_INSTALL_FLAG, root } from './setup.mjs';

const AS_ROOT_OF_A_USER_NAMESPACE = ['--user', '--map-root-user', '--net', '--mount'];

await buildProgram();
const manifests = relative(process.cwd(), `${root}examples`) || '.';
const flags = process.argv.slice(2).filter(flag => flag !== NO_INSTALL_FLAG);
const args = ['demo', '--manifests', manifests, ...flags];
if (isRoot || args.includes('--help')) {
  process.argv.splice(2, Infinity, ...args);
  await import(program);
} else if (spawnSync('unshare', [...AS_ROOT_OF_A_USER_NAMESPACE, 'true']).status === 0) {
  runInUserNamespace();
} else {
  console.error(`The demo makes network namespaces. This user may not make them, and not even a user namespace
(see kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns, or install the program unshare).
Run it as root:  sudo npm start`);
  process.exitCode = 1;
}

function runInUserNamespace() {
  const child = spawn('unshare', [...AS_ROOT_OF_A_USER_NAMESPACE, process.execPath, program, ...args], {
    stdio: 'inherit',
  });
  // The terminal sends Ctrl-C to the child too. The child cleans up and ends, and then this process ends.
  process.on('SIGINT', () => undefined);
  for (const signal of /** @type {const} */ (['SIGTERM', 'SIGHUP'])) process.on(signal, () => child.kill(signal));
  child.on('exit', status => {
    process.exitCode = status ?? 1;
  });
}
