// Measures whole programs with a real API server, side by side with upstream's kube-proxy: cold start, one change from
// the API to a connection that succeeds, churn, restart, one Service with 5,000 endpoints, the loss of a node with 1,000
// endpoints, and the size that SIG Scalability supports. Prints targets beside the figures. Works in its own network
// namespaces. Needs root and cgroup2.
//   --upstream FILE     an upstream program; may be repeated. The default is v1.36 and v1.37, which Go builds once
//   --no-upstream       measures only our own program
//   --ours FILE         measures this program of ours instead of the checkout
//   --mode NAME         the mode of all programs (nftables)
//   --size 5000x5,…     Services x endpoints of each (0x0,1000x5,5000x5,10000x10,44125x1)
//   --parts LIST        of: change,churn,restart,large,node,envelope (all). A cold start is always measured
//   --rounds N          cold starts of each program; the median counts (3)
//   --changes N         single changes of each program (20)
//   --minutes N         how long the churn lasts (10)
//   --rate N            changes of slices a second (200)
//   --json-file FILE    writes the results
//   --quick             about two minutes: 1000x5, one round, five changes, ten seconds of churn, beside v1.37
import { parseArgs } from 'node:util';
import { Recorder } from './record/result.ts';
import { reportFigures, reportGoals } from './record/tables.ts';
import { CLUSTER_TARGETS, goalsOf } from './record/targets.ts';
import { measureLargeService, measureNodeLoss } from './scale/bursts.ts';
import { measureChurn } from './scale/churn.ts';
import { measureColdStart, recordStarts, type Start } from './scale/cold-start.ts';
import { CONNECTOR, playConnector } from './scale/connector.ts';
import { measureChanges } from './scale/one-change.ts';
import { measureRestart } from './scale/restart.ts';
import { type Effort, Stage } from './scale/stage.ts';
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
    mode: { type: 'string', default: 'nftables' },
    size: { type: 'string' },
    parts: { type: 'string' },
    rounds: { type: 'string' },
    changes: { type: 'string' },
    minutes: { type: 'string' },
    rate: { type: 'string', default: '200' },
    'json-file': { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
});

type Part = (stage: Stage, subject: Subject) => Promise<void>;

/** A restart is last, because the proxy has other memory afterwards. */
const PARTS: Readonly<Record<string, Part>> = {
  change: measureChanges,
  churn: (stage, subject) => measureChurn(stage, subject),
  large: measureLargeService,
  node: measureNodeLoss,
  restart: measureRestart,
};
const ENVELOPE = 'envelope';
/** What SIG Scalability supports: 10,000 Services, 150,000 endpoints, and 100 changed pods a second. */
const ENVELOPE_SIZE: Size = { services: 10_000, endpoints: 15 };
const ENVELOPE_RATE = 100;

const { quick } = flags;
const parts = (
  flags.parts ?? (quick ? 'change,churn,restart,large,node' : [...Object.keys(PARTS), ENVELOPE].join())
).split(',');
const sizes = parseSizes(flags.size ?? (quick ? '1000x5' : '0x0,1000x5,5000x5,10000x10,44125x1'));
const effort: Effort = {
  rounds: Number(flags.rounds ?? (quick ? 1 : 3)),
  changes: Number(flags.changes ?? (quick ? 5 : 20)),
  churnMs: flags.minutes === undefined && quick ? 10_000 : Number(flags.minutes ?? 10) * 60_000,
  churnRate: Number(flags.rate),
  settleMs: 1500,
};

let stage: Stage | undefined;

async function main(): Promise<void> {
  const unknown = parts.filter(part => part !== ENVELOPE && !(part in PARTS));
  if (unknown.length > 0) throw new Error(`there is no part ${unknown.join(', ')}`);
  reportMachine();
  const upstreams = flags['no-upstream'] ? [] : upstreamSubjects(flags.upstream);
  const subjects = [
    ourSubject(flags.ours),
    ...(quick && flags.upstream === undefined ? upstreams.slice(-1) : upstreams),
  ];
  const reference = subjects.slice(1).at(-1)?.name;
  const versions = Object.fromEntries(subjects.map(({ name, version }) => [name, version]));
  const comparisons = reference === undefined ? [] : [{ ours: OURS, theirs: reference }];
  const recorder = new Recorder('cluster', versions, comparisons);
  for (const size of sizes) {
    await measureSize(new Stage(size, flags.mode, effort, recorder), subjects, measureParts);
    recorder.write(flags['json-file']);
  }
  if (parts.includes(ENVELOPE)) {
    const supported = new Stage(
      ENVELOPE_SIZE,
      flags.mode,
      { ...effort, rounds: 1, churnRate: ENVELOPE_RATE },
      recorder,
    );
    await measureSize(supported, subjects, (opened, subject) => measureChurn(opened, subject, ENVELOPE));
    recorder.write(flags['json-file']);
  }
  reportFigures(recorder.figures, OURS, reference);
  reportGoals(goalsOf(recorder.figures, CLUSTER_TARGETS, OURS, reference));
}

/** Starts all programs in turns. After the last start of each, `measure` runs. */
async function measureSize(opened: Stage, subjects: readonly Subject[], measure: Part): Promise<void> {
  stage = opened;
  const { rounds } = opened.effort;
  try {
    log(`${sizeName(opened.size)}: ${Math.round((await opened.open()) / 1000)} s to load`);
    const starts = new Map(subjects.map(subject => [subject, [] as Start[]]));
    for (let round = 1; round <= rounds; round++) {
      for (const [subject, measured] of starts) {
        log(`${sizeName(opened.size)}: ${subject.name}, start ${round} of ${rounds}`);
        measured.push(await measureColdStart(opened, subject));
        if (round === rounds) await measure(opened, subject);
        await opened.stopProxy();
      }
    }
    for (const [subject, measured] of starts) recordStarts(opened, subject, measured);
  } finally {
    await opened.close();
  }
}

async function measureParts(opened: Stage, subject: Subject): Promise<void> {
  const chosen = parts.filter(part => part !== ENVELOPE);
  for (const part of Object.keys(PARTS).filter(name => chosen.includes(name))) {
    // A cluster without Services has nothing to change at a rate.
    if (part === 'churn' && opened.size.services === 0) continue;
    log(`${sizeName(opened.size)}: ${subject.name}, ${part}`);
    await PARTS[part]?.(opened, subject);
  }
}

/** Progress goes to the standard error, so that results can go to a file. */
function log(message: string): void {
  console.error(message);
}

if (flags.role === CONNECTOR) playConnector();
else await runAndClose(main, async () => stage?.close());
