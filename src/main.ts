import { main } from './cli/index.ts';

const { stdout, stderr, env } = process;
process.exitCode = await main(process.argv.slice(2), { stdout, stderr, env });
