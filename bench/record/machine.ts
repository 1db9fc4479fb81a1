import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';

/** What the figures of a run depend on. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly kernel: string;
  readonly node: string;
  /** The load average before the run. */
  readonly load: number;
}

export function machine(): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: `Linux ${release()}`,
    node: process.version,
    load: Number((loadavg()[0] ?? 0).toFixed(2)),
  };
}

/** The version of this checkout, with its commit if git knows it: `0.1.0 (ccd23764)`. */
export function ownVersion(): string {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const { status, stdout } = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' });
  return status === 0 ? `${version} (${stdout.trim()})` : version;
}
