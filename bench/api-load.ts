// Measures what proxies cost an API server. One proxy at a time, beside upstream's kube-proxy: requests and bytes of a
// start, of an idle minute and of single changes, and the processor time of the API server. Then start storms: many
// proxies in one process, with the program's own client, start at once while the API server works, is down, or admits
// few requests. A real etcd and API server run in a network namespace. Needs root and cgroup2.
//   --upstream FILE     an upstream program; may be repeated. The default is v1.36 and v1.37, which Go builds once
//   --no-upstream       measures only our own program
//   --ours FILE         measures this program of ours instead of the checkout
//   --parts LIST        of: one,storm (all)
//   --size 5000x5,…     Services x endpoints of each, for one proxy (1000x5,5000x5)
//   --rounds N          starts of each program (3)
//   --changes N         changes of each kind, an even number (50)
//   --idle-seconds N    how long a proxy idles (60)
//   --proxies 200,…     the proxies of a storm (200,500,1000)
//   --storm-size SIZE   Services x endpoints of each, for a storm (100x5)
//   --json-file FILE    writes the results
//   --quick             about three minutes: 200x5, one round, ten changes, a storm of 50 proxies, beside v1.37
import { parseArgs } from 'node:util';
import { COUNTER, playCounter } from './load/counter.ts';
import { CROWD, playCrowd } from './load/crowd.ts';
import { LoadStage } from './load/load-stage.ts';
import { DEFAULT_CONNECTION, JSON_TYPE, type LoadEffort, OneProxyLoad } from './load/one-proxy.ts';
import { Storm } from './load/storm.ts';
import { Recorder } from './record/result.ts';
import { reportFigures } from './record/tables.ts';
import { OURS, ourSubject, type Subject, upstreamSubjects } from './scale/subjects.ts';
import { runAndClose } from './support/closing.ts';
import { parseSize, type Size, sizeName } from './support/cluster.ts';
import { COMMON_FLAGS, parseSizes } from './support/flags.ts';
import { reportMachine } from './support/report.ts';

const { values: flags } = parseArgs({
  options: {
    ...COMMON_FLAGS,
    upstream: { type: 'string', multiple: true },
    'no-upstream': { type: 'boolean' },
    ours: { type: 'string' },
    parts: { type: 'string', default: 'one,storm' },
    size: { type: 'string' },
    rounds: { type: 'string' },
    changes: { type: 'string' },
    'idle-seconds': { type: 'string' },
    proxies: { type: 'string' },
    'storm-size': { type: 'string', default: '100x5' },
    'json-file': { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
});

/** An API server with this flag refuses streaming lists, as API servers before v1.32 do. */
const PLAIN_LISTS = ['--feature-gates=WatchList=false'];
/** Priority and fairness then queues nearly everything, and refuses what does not fit into the queues. */
const FEW_REQUESTS = ['--max-requests-inflight=20', '--max-mutating-requests-inflight=10'];

const { quick } = flags;
const effort: LoadEffort = {
  rounds: Number(flags.rounds ?? (quick ? 1 : 3)),
  changes: Number(flags.changes ?? (quick ? 10 : 50)),
  idleMs: Number(flags['idle-seconds'] ?? (quick ? 5 : 60)) * 1000,
};
const sizes = parseSizes(flags.size ?? (quick ? '200x5' : '1000x5,5000x5'));
const crowds = (flags.proxies ?? (quick ? '50' : '200,500,1000')).split(',').map(Number);
const parts = flags.parts.split(',');

let stage: LoadStage | undefined;

async function main(): Promise<void> {
  const unknown = parts.filter(part => part !== 'one' && part !== 'storm');
  if (unknown.length > 0) throw new Error(`there is no part ${unknown.join(', ')}`);
  if (effort.changes % 2 !== 0) throw new Error('--changes must be an even number');
  reportMachine();
  const upstreams = flags['no-upstream'] ? [] : upstreamSubjects(flags.upstream);
  const chosen = quick && flags.upstream === undefined ? upstreams.slice(-1) : upstreams;
  const subjects = [ourSubject(flags.ours), ...chosen];
  const reference = chosen.at(-1)?.name;
  const versions = Object.fromEntries(subjects.map(({ name, version }) => [name, version]));
  const recorder = new Recorder(
    'api-load',
    versions,
    chosen.toReversed().map(({ name }) => ({ ours: OURS, theirs: name })),
  );
  if (parts.includes('one')) {
    for (const size of sizes) {
      await measureSize(size, subjects, recorder);
      recorder.write(flags['json-file']);
    }
  }
  if (parts.includes('storm')) {
    for (const proxies of crowds) {
      await measureStorms(proxies, parseSize(flags['storm-size']), recorder);
      recorder.write(flags['json-file']);
    }
  }
  reportFigures(recorder.figures, OURS, reference);
}

/** Changes make objects larger. So all programs start before the first change. */
async function measureSize(size: Size, subjects: readonly Subject[], recorder: Recorder): Promise<void> {
  await withStage(size, [], async opened => {
    const load = new OneProxyLoad(opened, size, effort, recorder);
    for (const subject of subjects) {
      log(`${sizeName(size)}: ${subject.name}, start`);
      await load.measureStarts('start', subject, DEFAULT_CONNECTION);
      await load.measureStarts('start with JSON', subject, { ...DEFAULT_CONNECTION, contentType: JSON_TYPE }, 1);
    }
    for (const subject of subjects) {
      log(`${sizeName(size)}: ${subject.name}, idle and changes`);
      await load.startAgain(subject);
      await load.measureIdle(subject);
      await load.measureChanges(subject);
    }
  });
  await withStage(size, PLAIN_LISTS, async opened => {
    const load = new OneProxyLoad(opened, size, effort, recorder);
    for (const subject of subjects) {
      log(`${sizeName(size)}: ${subject.name}, start with plain lists`);
      await load.measureStarts('start with plain lists', subject, DEFAULT_CONNECTION, 1);
      const withoutGzip = { ...DEFAULT_CONNECTION, gzip: false };
      await load.measureStarts('start with plain lists, no gzip', subject, withoutGzip, 1);
    }
  });
}

async function measureStorms(proxies: number, size: Size, recorder: Recorder): Promise<void> {
  log(`${proxies} proxies`);
  await withStage(size, [], async opened => {
    const storm = new Storm(opened, proxies, recorder);
    await storm.measureServerUp('storm, API server works');
    await storm.measureRestart('storm, API server restarts');
    await storm.measureServerDown('storm, API server is down at first');
  });
  await withStage(size, FEW_REQUESTS, opened =>
    new Storm(opened, proxies, recorder).measureBusyServer('storm, API server admits 30 requests at a time'),
  );
}

async function withStage(
  size: Size,
  apiserverArgs: readonly string[],
  work: (stage: LoadStage) => Promise<void>,
): Promise<void> {
  stage = await LoadStage.start(apiserverArgs);
  try {
    await stage.load(size);
    await work(stage);
  } finally {
    await stage.close();
  }
}

/** Progress goes to the standard error, so that results can go to a file. */
function log(message: string): void {
  console.error(message);
}

if (flags.role === COUNTER) playCounter();
else if (flags.role === CROWD) playCrowd();
else await runAndClose(main, async () => stage?.close());
