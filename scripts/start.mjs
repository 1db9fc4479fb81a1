// npm start [-- FLAGS]: runs the demo, a live proxy in a small cluster of network namespaces, with the manifests in
// examples/. Only root may make network namespaces. A user who is not root becomes root of a user namespace, if the
// machine allows that.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
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
  await runInUserNamespace();
} else {
  console.error(`The demo makes network namespaces. This user may not make them, and not even a user namespace
(see kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns, or install the program unshare).
Run it as root:  sudo npm start`);
  process.exitCode = 1;
}

async function runInUserNamespace() {
  const listener = await openPageListener();
  const child = spawn('unshare', [...AS_ROOT_OF_A_USER_NAMESPACE, process.execPath, program, ...args], {
    stdio: listener ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit',
    env: { ...process.env, ...(listener && { POINTSMAN_PAGE_LISTENER: 'sent' }) },
  });
  // From then on only the child accepts connections.
  if (listener) child.send('page', listener, () => listener.close());
  // The terminal sends Ctrl-C to the child too. The child cleans up and ends, and then this process ends.
  process.on('SIGINT', () => undefined);
  for (const signal of /** @type {const} */ (['SIGTERM', 'SIGHUP'])) process.on(signal, () => child.kill(signal));
  child.on('exit', status => {
    process.exitCode = status ?? 1;
  });
}

/**
 * A browser does not reach the network of the user namespace. So this process listens for the demo's page, in the network
 * of the machine, and sends the listener to the demo. Undefined if there is no page.
 */
async function openPageListener() {
  const given = pageAddressFlag();
  if (given === '' || (given === undefined && flags.includes('--once'))) return undefined;
  const [, ip, port] = /^\[?([^\]]*?)\]?:(\d+)$/.exec(given ?? '127.0.0.1:10280') ?? [];
  // The demo says what is wrong with the address.
  if (ip === undefined) return undefined;
  try {
    return await listenAt(ip, Number(port));
  } catch (error) {
    if (given !== undefined) throw error;
    return listenAt(ip, 0);
  }
}

function pageAddressFlag() {
  const name = '--page-bind-address';
  const at = flags.findLastIndex(flag => flag === name || flag.startsWith(`${name}=`));
  const flag = flags[at];
  return flag === name ? flags[at + 1] : flag?.slice(name.length + 1);
}

/**
 * @param {string} host
 * @param {number} port
 */
async function listenAt(host, port) {
  const server = createServer();
  server.listen({ host, port });
  await once(server, 'listening');
  return server;
}
