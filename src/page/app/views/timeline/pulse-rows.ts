import type { HistoryRow, Pulse } from '../../../../inspect/index.ts';

/** The seconds in which syncs ran, as entries. The history itself has only syncs in which something happened. */
export function pulseRows(pulses: readonly Pulse[]): readonly HistoryRow[] {
  return pulses.filter(({ syncs, failedSyncs }) => syncs + failedSyncs > 0).map(pulseRow);
}

function pulseRow({ at, syncs, failedSyncs, syncMs }: Pulse): HistoryRow {
  const all = `${syncs} ${syncs === 1 ? 'sync' : 'syncs'} in this second`;
  return {
    // Entries of the history have positive numbers.
    id: -Math.round(at / 1000),
    kind: 'sync',
    time: new Date(at).toISOString(),
    object: undefined,
    service: undefined,
    family: undefined,
    change: failedSyncs === 0 ? all : `${all}, of which ${failedSyncs} failed`,
    cause: undefined,
    triggered: undefined,
    state: undefined,
    plannedMs: undefined,
    writtenMs: undefined,
    syncMs,
    fullSync: undefined,
    count: undefined,
    lastTime: undefined,
  };
}
