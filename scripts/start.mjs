// npm start [-- FLAGS]: a live proxy on a small cluster out of network namespaces, for the manifests in examples/.
// Making namespaces takes root; who is not root is root in a user namespace, where the machine allows that.
import { spawn, spawnSync } from 'node:child_process';
import { relative } from 'node:path';
import { buildProgram, program } from './build.mjs';
import { root } from './setup.mjs';

const AS_ROOT_OF_A_USER_NAMESPACE = ['--user', '--map-root-user', '--net', '--mount'];

await buildProgram();
const manifests = relative(process.cwd(), `${root}examples`) || '.';
const args = ['demo', '--manifests', manifests, ...process.argv.slice(2)];
if (process.getuid?.() === 0 || args.includes('--help')) {
  process.argv.splice(2, Infinity, ...args);
  await import(program);
} else if (spawnSync('unshare', [...AS_ROOT_OF_A_USER_NAMESPACE, 'true']).status === 0) {
  runInUserNamespace();
} else {
  console.error(`The demo makes network namespaces, which this user may not, not even in a user namespace
(see kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns, and whether there is a program unshare).
Run it as root:  sudo npm start`);
  process.exitCode = 1;
}

function runInUserNamespace() {
  const child = spawn('unshare', [...AS_ROOT_OF_A_USER_NAMESPACE, process.execPath, program, ...args], {
    stdio: 'inherit',
  });
  // A terminal's Ctrl-C reaches the child too, which ends in good order.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', status => {
    process.exitCode = status ?? 1;
  });
}
