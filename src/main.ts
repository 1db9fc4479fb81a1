import { main } from './cli/index.ts';

const { stdout, stderr, env } = process;
// Pending timers and sockets would keep the process running, so it exits at once.
process.exit(await main(process.argv.slice(2), { stdout, stderr, env }));
