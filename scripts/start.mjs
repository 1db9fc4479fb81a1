// npm start [-- FLAGS]: shows what should be programmed for the manifests in examples/.
import { buildProgram, program } from './build.mjs';
import { root } from './setup.mjs';

await buildProgram();
const flags = [
  '--manifests',
  `${root}examples`,
  '--hostname-override',
  'node-a',
  '--cluster-cidr',
  '10.244.0.0/16,fd00:10:244::/48',
];
process.argv.splice(2, Infinity, 'plan', ...flags, ...process.argv.slice(2));
await import(program);
