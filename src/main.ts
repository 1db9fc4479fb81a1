import { main } from './cli/index.ts';
import { setProcessName } from './kernel/process-name.ts';

setProcessName('kube-proxy', process.argv.slice(2));
const { stdout, stderr, env } = process;
const io = {
  // Node opens the stream when it is first used. The proxy does not need it.
  get stdin() {
    return process.stdin;
  },
  stdout,
  stderr,
  env,
};

// No `await` at the top of this file: the single executable is a CommonJS program, which cannot have one.
run();

async function run(): Promise<void> {
  const status = await main(process.argv.slice(2), io);
  await written();
  // Pending timers and sockets would keep the process running, so it exits at once.
  process.exit(status);
}

/** Resolves when the reader of a pipe has taken everything, or has closed it. A pipe holds only 64 KiB. */
function written(): Promise<void> {
  return new Promise(resolve => {
    stdout.once('error', () => resolve());
    stdout.write('', () => resolve());
  });
}
