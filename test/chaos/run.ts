import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { errorText } from '../../src/lib/error-text.ts';
import { checkEnd } from './end.ts';
import { judgeLeftovers, machineState } from './invariants/leftovers.ts';
import { judgeEnd } from './invariants/process.ts';
import type { Violation } from './invariants/violation.ts';
import { Monitor } from './monitor.ts';
import { untilRecovered } from './recover.ts';
import { type PlannedFault, type Round, scheduleLines } from './schedule/schedule.ts';
import type { EventLog } from './world/event-log.ts';
import type { ModeName } from './world/modes.ts';
import { World } from './world/world.ts';

export interface RunOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly mode: ModeName;
  readonly rounds: readonly Round[];
  readonly log: EventLog;
  /** Aborted when the operator ends the run. */
  readonly signal: AbortSignal;
}

const START_MS = 60_000;
/** The time between rounds in which nothing may go wrong. */
const QUIET_MS = 3000;
/** A run with this many violations has shown enough. */
const MAX_VIOLATIONS = 20;

export interface RunResult {
  readonly violations: readonly Violation[];
  /** What the run did, in one line. */
  readonly summary: string;
}

/** Runs the schedule, or the part of it until the operator ends the run. */
export async function run(options: RunOptions): Promise<RunResult> {
  const run = new Run(options);
  const before = machineState();
  await run.perform();
  const leftovers = judgeLeftovers(before, machineState(), run.folders);
  // What broke while the operator ended the run does not count.
  const violations = options.signal.aborted ? leftovers : [...run.violations, ...leftovers];
  return { violations, summary: run.summary };
}

class Run {
  readonly violations: Violation[] = [];
  readonly folders: string[] = [];
  summary = '';
  #faults = 0;
  readonly #options: RunOptions;
  /** How many faults run that may end the process of the proxy. */
  #endingFaults = 0;

  constructor(options: RunOptions) {
    this.#options = options;
  }

  async perform(): Promise<void> {
    const { seed, mode, log, signal } = this.#options;
    const onViolation = (violation: Violation) => this.#violated(violation);
    const world = await World.open({
      seed,
      mode,
      log,
      onViolation,
      onEnd: (exit, lines) => {
        log.note(`the proxy ended: ${exit.signal ?? `status ${exit.status}`}`);
        const violation = judgeEnd(exit, this.#endingFaults > 0);
        if (violation) this.#violated({ ...violation, facts: `${violation.facts}. ${lines.join('\n')}` });
      },
    });
    this.folders.push(world.access.folder, ...(world.group ? [world.group.path] : []));
    const monitor = new Monitor(world, onViolation);
    try {
      if (signal.aborted) return;
      await Promise.race([this.#rounds(world), once(signal, 'abort')]);
      if (signal.aborted) return;
      await monitor.close();
      for (const violation of await checkEnd(world)) onViolation(violation);
      this.summary = this.#summary(world, monitor);
    } finally {
      await monitor.close();
      await world.close();
    }
  }

  async #rounds(world: World): Promise<void> {
    const { rounds, log, minutes } = this.#options;
    await this.#recover(world, START_MS);
    log.note('the proxy serves all Services');
    const begin = performance.now();
    for (const round of rounds) {
      if (this.#options.signal.aborted) return;
      const elapsed = performance.now() - begin;
      if (this.violations.length >= MAX_VIOLATIONS) return;
      if (elapsed > minutes * 60_000) return log.note(`the time is over: rounds from ${round.number} on are left out`);
      await delay(Math.max(0, round.atMs - elapsed));
      for (const line of scheduleLines([round])) log.note(line);
      await Promise.all(round.faults.map(fault => this.#suffer(world, fault)));
      await this.#recover(world, Math.max(...round.faults.map(({ fault }) => fault.recoveryMs)));
      await delay(QUIET_MS);
    }
  }

  async #suffer(world: World, { fault, settings, afterMs }: PlannedFault): Promise<void> {
    const { log } = this.#options;
    await delay(afterMs);
    log.note(`${fault.name} begins`);
    this.#faults++;
    world.suffer(fault);
    if (fault.mayEndProxy) this.#endingFaults++;
    try {
      await fault.run(world, settings);
    } catch (error) {
      this.#violated({ invariant: 'the fault could be made', facts: `${fault.name}: ${errorText(error)}` });
    }
    log.note(`${fault.name} is over`);
    if (fault.mayEndProxy) setTimeout(() => this.#endingFaults--, QUIET_MS).unref();
  }

  async #recover(world: World, boundMs: number): Promise<void> {
    const began = performance.now();
    const violation = await untilRecovered(world, boundMs);
    if (violation) this.#violated(violation);
    world.recovered();
    this.#options.log.note(`recovered after ${((performance.now() - began) / 1000).toFixed(1)} s`);
  }

  #summary({ load, clients, proxy }: World, monitor: Monitor): string {
    const { maxResidentMB, maxDescriptors, meanGraceMs } = monitor;
    return [
      `${this.#faults} faults`,
      `modes ${[...proxy.modesUsed].join(', ')}`,
      `${load.changes} changes`,
      `${clients.attempts} connections, judged after ${(meanGraceMs / 1000).toFixed(1)} s on average`,
      `at most ${maxResidentMB} MB and ${maxDescriptors} descriptors`,
    ].join('; ');
  }

  #violated(violation: Violation): void {
    if (this.#options.signal.aborted) return;
    this.violations.push(violation);
    if (this.violations.length <= MAX_VIOLATIONS) {
      this.#options.log.note(`VIOLATED: ${violation.invariant}: ${violation.facts}`);
    }
  }
}
