// Counts what nftables mode sends to the kernel: bytes of a cold load, of an endpoint that comes, goes or is replaced, and
// of a restart. The counts do not depend on the machine, so `npm run bench -- check` compares them exactly. Works in its
// own network namespaces. Needs root.
//   --size 5000x5,…     Services x endpoints of each (1000x5,5000x5)
//   --json-file FILE    writes the results
import { parseArgs } from 'node:util';
import { ownVersion } from './record/machine.ts';
import { Recorder } from './record/result.ts';
import { single } from './record/statistics.ts';
import { reportFigures } from './record/tables.ts';
import { sizeName } from './support/cluster.ts';
import { COMMON_FLAGS, parseSizes } from './support/flags.ts';
import { countWork } from './support/nftables-load.ts';

const { values: flags } = parseArgs({
  options: {
    ...COMMON_FLAGS,
    size: { type: 'string', default: '1000x5,5000x5' },
    'json-file': { type: 'string' },
  },
});

const SUBJECT = 'Pointsman';
const recorder = new Recorder('work', { [SUBJECT]: ownVersion() });
for (const size of parseSizes(flags.size)) {
  for (const [name, bytes] of Object.entries(await countWork(size))) {
    const head = { part: 'sent to the kernel', size: sizeName(size), subject: SUBJECT, name, unit: 'bytes' };
    recorder.add(single({ ...head, kind: 'count' }, bytes));
  }
}
recorder.write(flags['json-file']);
reportFigures(recorder.figures, SUBJECT, undefined);
