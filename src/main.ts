import { main } from './cli/index.ts';

const { stdout, stderr, env } = process;
// What still waits for something must not keep an ended program.
process.exit(await main(process.argv.slice(2), { stdout, stderr, env }));
