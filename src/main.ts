import { main } from './cli/index.ts';

const { stdout, stderr, env } = process;

// No `await` at the top of this file: the single executable is a CommonJS program, which cannot have one.
run();

async function run(): Promise<void> {
  const status = await main(process.argv.slice(2), { stdout, stderr, env });
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
