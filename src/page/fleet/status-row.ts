import type { ProxyStatus } from '../../inspect/index.ts';
import type { NodeRow } from './rows.ts';

/** The part of a proxy's status that the fleet shows. */
export function statusRow(status: ProxyStatus): Omit<NodeRow, 'node' | 'pod' | 'milliseconds'> {
  const { families, watches } = status;
  const lastSyncs = families.flatMap(({ lastSync }) => lastSync ?? []).sort();
  return {
    version: status.version,
    mode: status.mode,
    ready: status.ready,
    pending: status.pending,
    watches: {
      all: watches.length,
      synced: watches.filter(({ synced }) => synced).length,
      problem: watches.find(({ problem }) => problem !== undefined)?.problem,
    },
    syncs: {
      failed: status.failedSyncs,
      last: lastSyncs.at(-1),
      error: families.find(({ error }) => error !== undefined)?.error,
    },
    repairs: status.drift.repairs,
    problems: status.problems,
    servicePorts: {
      programmed: sum(families.map(({ servicePorts }) => servicePorts.programmed)),
      setAside: sum(families.map(({ servicePorts }) => servicePorts.setAside)),
    },
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
