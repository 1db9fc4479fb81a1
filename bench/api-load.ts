// Measures what proxies cost an API server. One proxy at a time, beside upstream's kube-proxy: requests and bytes of a
// start, of an idle minute and of single changes, and the processor time of the API server. Then start storms: many
// proxies in one process, all with the program's own client, start at once while the API server works, is down, or
// refuses requests. A real etcd and API server run in a network namespace. Needs root and cgroup2.
//   --upstream FILE     an upstream program; may be repeated. The default is v1.36 and v1.37, which Go builds once
//   --no-upstream       measures only our own program
//   --ours FILE         measures this program of ours instead of the checkout
//   --size 5000x5,…     Services x endpoints of each, for one proxy (1000x5,5000x5)
//   --rounds N          starts of each program (3)
//   --changes N         changes of each kind (50)
//   --idle-seconds N    how long a proxy idles; the figures are those of a minute (60)
import { parseArgs } from 'node:util';
import { Storm } from './load/storm.ts';
import { CROWD, playCrowd } from './load/crowd.ts';
import { COUNTER, playCounter } from './load/counter.ts';
import { LoadStage } from './load/load-stage.ts';
import { DEFAULT_CONNECTION, type LoadEffort, OneProxyLoad } from './load/one-proxy.ts';
import { Recorder } from './record/result.ts';
import { reportFigures } from './record/tables.ts';
import { OURS, ourSubject, type Subject, upstreamSubjects } from './scale/subjects.ts';
import { runAndClose } from './support/closing.ts';
import { type Size, sizeName } from './support/cluster.ts';
import { COMMON_FLAGS, parseSizes } from './support/flags.ts';
import { reportMachine } from './support/report.ts';

const { values: flags } = parseArgs({
  options: {
    ...COMMON_FLAGS,
    upstream: { type: 'string', multiple: true },
    'no-upstream': { type: 'boolean' },
    ours: { type: 'string' },
    size: { type: 'string' },
    rounds: { type: 'string' },
    changes: { type: 'string' },
    'idle-seconds': { type: 'string' },
    'json-file': { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
});

let stage: LoadStage | undefined;

async function main(): Promise<void> {
  reportMachine();
  const recorder = new Recorder('api-load', {}, []);
  const proxies = Number(flags.rounds ?? 100);
  const which = flags.changes ?? 'udrb';
  stage = await LoadStage.open({services: 100, endpoints: 5}, which === 'b' ? ['--max-requests-inflight=4', '--max-mutating-requests-inflight=2'] : []);
  console.log('opened');
  const storm = new Storm(stage, proxies, recorder);
  if (which.includes('u')) await storm.measureServerUp('up');
  if (which.includes('r')) await storm.measureRestart('restart');
  if (which.includes('d')) await storm.measureServerDown('down');
  if (which.includes('b')) await storm.measureBusyServer('busy');
  reportFigures(recorder.figures, OURS, undefined);
}
if (flags.role === CROWD) playCrowd(); else if (flags.role === COUNTER) playCounter();
else await runAndClose(main, async () => stage?.close());
