import type { Mode } from './arguments.ts';
import type { Result, Results, State } from './results.ts';

/** What upstream's kube-proxy got, by mode and by the name of the test. */
export interface Recorded {
  readonly version: string;
  readonly modes: Readonly<Record<string, Readonly<Record<string, State>>>>;
}

export interface Row {
  readonly name: string;
  readonly result: Result;
  /** Undefined if upstream's result is not recorded. */
  readonly upstream: State | undefined;
  /** Whether the test fails, or does not run, although it passes with upstream's kube-proxy. */
  readonly isWorse: boolean;
}

export interface Comparison {
  readonly rows: readonly Row[];
  readonly counts: Readonly<Record<State, number>>;
  readonly worse: readonly Row[];
}

/** The mode of upstream that a mode must be as good as. */
const REFERENCES: Readonly<Record<Mode, string>> = {
  nftables: 'nftables',
  ebpf: 'nftables',
  iptables: 'iptables',
  userspace: 'iptables',
};

export function compare(results: Results, recorded: Recorded, mode: Mode): Comparison {
  const upstream = recorded.modes[REFERENCES[mode]] ?? {};
  const rows = [...results].sort(byName).map(([name, result]) => rowOf(name, result, upstream[name]));
  const count = (state: State) => rows.filter(({ result }) => result.state === state).length;
  const counts = { pass: count('pass'), fail: count('fail'), skip: count('skip') };
  return { rows, counts, worse: rows.filter(({ isWorse }) => isWorse) };
}

/** Adds results of upstream to those that are recorded. */
export function addRecord(recorded: Recorded, results: Results, mode: Mode): Recorded {
  const former = Object.entries(recorded.modes[mode] ?? {});
  const latest = [...results].map(([name, { state }]) => [name, state] as const);
  const states = Object.fromEntries([...new Map([...former, ...latest])].sort(byName));
  return { ...recorded, modes: { ...recorded.modes, [mode]: states } };
}

export function tableText({ rows, counts }: Comparison): string {
  const lines = rows.flatMap(({ name, result: { state, seconds, reason }, upstream = '-', isWorse }) => [
    `${isWorse ? '*' : ' '} ${state}  ${seconds.toFixed(1).padStart(7)} s  ${upstream}  ${name}`,
    ...(state !== 'pass' && reason ? [`                        ${reason}`] : []),
  ]);
  const total = `${counts.pass} passed, ${counts.fail} failed, ${counts.skip} skipped`;
  return ['  here     time   upstream', ...lines, total].join('\n');
}

/** A failure of a test that upstream never ran counts, too. */
function rowOf(name: string, result: Result, upstream: State | undefined): Row {
  const isWorse = result.state === 'fail' ? upstream !== 'fail' : result.state === 'skip' && upstream === 'pass';
  return { name, result, upstream, isWorse };
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
