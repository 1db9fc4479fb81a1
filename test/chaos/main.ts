import { parseArgs } from 'node:util';
import { errorText } from '../../src/lib/error-text.ts';
import { FAULTS } from './faults/index.ts';
import { type RunOptions, run } from './run.ts';
import { makeSchedule, scheduleLines } from './schedule/schedule.ts';
import { EventLog } from './world/event-log.ts';
import { MODES } from './world/modes.ts';

const USAGE = `usage: npm run chaos [-- FLAGS]
  --seed N           the faults, their order and the changes of objects; the default is a random number
  --minutes M        how long faults come; the default is 10
  --proxy-mode M     ${MODES.join(', ')}: the mode at the start; the default is nftables
  --faults A,B       only these faults: ${FAULTS.map(({ name }) => name).join(', ')}
  --schedule         prints the schedule and ends
  --no-install       installs nothing; fails if a program is missing`;

/** The status that shells expect of a program that SIGINT ended. */
const INTERRUPTED = 130;

const options = parse();
if (options) process.exit(await main(options).catch(failed));

/** The run could not begin, or could not go on. */
function failed(error: unknown): number {
  console.error(`The run failed: ${errorText(error)}`);
  return 1;
}

interface Options extends Omit<RunOptions, 'log' | 'signal'> {
  readonly isSchedule: boolean;
  /** The flag that leaves faults out, for the command that repeats the run. */
  readonly only: string;
}

function parse(): Options | undefined {
  try {
    const { values } = parseArgs({
      options: {
        seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
        minutes: { type: 'string', default: '10' },
        'proxy-mode': { type: 'string', default: 'nftables' },
        faults: { type: 'string' },
        schedule: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
        'no-install': { type: 'boolean' },
      },
    });
    if (values.help) {
      console.log(USAGE);
      return undefined;
    }
    const [seed, minutes] = [Number(values.seed), Number(values.minutes)];
    const mode = MODES.find(name => name === values['proxy-mode']);
    const names = values.faults?.split(',');
    const unknown = names?.filter(name => !FAULTS.some(fault => fault.name === name)) ?? [];
    if (!Number.isSafeInteger(seed) || !(minutes > 0) || !mode || unknown.length > 0) {
      throw new Error(`a value is not valid: ${[...unknown, ...process.argv.slice(2)].join(' ')}`);
    }
    const faults = names ? FAULTS.filter(({ name }) => names.includes(name)) : FAULTS;
    const only = names ? ` --faults ${names.join()}` : '';
    return { seed, minutes, mode, rounds: makeSchedule(seed, minutes, faults), isSchedule: values.schedule, only };
  } catch (error) {
    console.error(`${errorText(error)}\n\n${USAGE}`);
    process.exitCode = 2;
    return undefined;
  }
}

async function main({ isSchedule, only, ...options }: Options): Promise<number> {
  const { seed, minutes, mode, rounds } = options;
  if (isSchedule) {
    console.log(scheduleLines(rounds).join('\n'));
    return 0;
  }
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort());
  const began = performance.now();
  const log = new EventLog(`build/chaos-${seed}.log`);
  log.note(`seed ${seed}, ${minutes} minutes, mode ${mode}, ${rounds.length} rounds. Everything is in ${log.path}`);
  const { violations, summary } = await run({ ...options, log, signal: interrupted.signal });
  const took = `It took ${Math.round((performance.now() - began) / 1000)} s`;
  if (violations.length === 0) {
    const isInterrupted = interrupted.signal.aborted;
    log.note(
      `Seed ${seed}: ${isInterrupted ? 'ended by a signal, and cleaned up' : `everything held. ${summary}`}. ${took}`,
    );
    return isInterrupted ? INTERRUPTED : 0;
  }
  log.note(`Seed ${seed}: ${violations.length} invariants were violated. ${summary}. ${took}`);
  console.log(`\nThe schedule:\n${scheduleLines(rounds).join('\n')}`);
  for (const { invariant, facts } of violations.slice(0, 20)) console.log(`\n${invariant}\n  ${facts}`);
  console.log(`\nRepeat: npm run chaos -- --seed ${seed} --minutes ${minutes} --proxy-mode ${mode}${only}`);
  console.log(`All events and log lines: ${log.path}`);
  return 1;
}
