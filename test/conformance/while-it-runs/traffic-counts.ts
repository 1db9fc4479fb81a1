export interface TrafficCount {
  readonly name: string;
  readonly answered: number;
  readonly failed: number;
  readonly slowestMs: number;
  /** When and why connections failed. */
  readonly failures: readonly string[];
}

/** Reads the log of a client: a line for each failed connection, and a summary at the end. */
export function readCounts(log: string): readonly TrafficCount[] {
  const lines = log.trimEnd().split('\n');
  const last = lines.pop() ?? '';
  if (!last.startsWith('{')) throw new Error(`A client of the Service ended early: ${last}`);
  const { targets }: { readonly targets: readonly Omit<TrafficCount, 'failures'>[] } = JSON.parse(last);
  return targets.map(({ name, answered, failed, slowestMs }) => ({
    ...{ name, answered, failed, slowestMs },
    failures: lines.filter(line => line.includes(` ${name}: `)),
  }));
}

/** Whether connections were made, and none failed. */
export function isFlawless(counts: readonly TrafficCount[]): boolean {
  return counts.length > 0 && counts.every(({ answered, failed }) => answered > 0 && failed === 0);
}

export function countsText(counts: readonly TrafficCount[]): string {
  return counts
    .flatMap(({ name, answered, failed, slowestMs, failures }) => [
      `${name}: ${answered} connections answered, ${failed} failed, slowest ${slowestMs} ms`,
      ...failures.map(line => `  ${line}`),
    ])
    .join('\n');
}
