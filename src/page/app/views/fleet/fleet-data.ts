import { signal } from '@preact/signals';
import type { FleetHead, FleetRow, FleetServiceRow, KnownService, UsedEndpoints } from '../../../fleet/index.ts';
import { askLines } from '../../api.ts';

/** The answers of the nodes to one question, as they come. */
export interface Answers<Row> {
  readonly head: FleetHead | undefined;
  readonly rows: readonly Row[];
  /** When the last node answered. Undefined while answers are missing. */
  readonly completeAt: number | undefined;
  readonly error: unknown;
}

const NO_ANSWERS: Answers<never> = { head: undefined, rows: [], completeAt: undefined, error: undefined };

export const fleet = signal<Answers<FleetRow>>(NO_ANSWERS);

export interface ServiceAnswers extends Answers<FleetServiceRow> {
  readonly contents: ReadonlyMap<string, KnownService | UsedEndpoints>;
}

export const NO_SERVICE: ServiceAnswers = { ...NO_ANSWERS, contents: new Map() };

export const fleetService = signal<ServiceAnswers>(NO_SERVICE);

/** While a round runs, the rows of the former one stay until the node has answered again. */
export async function readFleet(signal: AbortSignal): Promise<void> {
  await readRound<FleetRow>('v1/fleet', {}, signal, fleet.peek(), answers => {
    fleet.value = answers;
  });
}

export async function readFleetService(name: string, signal: AbortSignal): Promise<void> {
  const contents = new Map<string, KnownService | UsedEndpoints>();
  await readRound<FleetServiceRow>('v1/fleet/service', { name }, signal, fleetService.peek(), (answers, fresh) => {
    for (const row of fresh) {
      if (!('silence' in row))
        for (const [digest, content] of Object.entries(row.contents)) contents.set(digest, content);
    }
    const known = new Map([...fleetService.peek().contents, ...contents]);
    fleetService.value = { ...answers, contents: answers.completeAt === undefined ? known : contents };
  });
}

async function readRound<Row extends { readonly node: string }>(
  path: string,
  parameters: Readonly<Record<string, string>>,
  signal: AbortSignal,
  former: Answers<Row>,
  show: (answers: Answers<Row>, fresh: readonly Row[]) => void,
): Promise<void> {
  const rows = new Map(former.rows.map(row => [row.node, row]));
  const answered = new Set<string>();
  let head: FleetHead | undefined;
  try {
    for await (const lines of askLines<FleetHead | Row>(path, parameters, signal)) {
      const fresh = lines.filter(line => 'node' in line);
      head ??= lines.find(line => 'schema' in line);
      for (const row of fresh) {
        rows.set(row.node, row);
        answered.add(row.node);
      }
      show({ head, rows: [...rows.values()], completeAt: undefined, error: undefined }, fresh);
    }
    const current = [...rows.values()].filter(({ node }) => answered.has(node));
    show({ head, rows: current, completeAt: Date.now(), error: undefined }, []);
  } catch (error) {
    if (!signal.aborted) show({ ...former, head: head ?? former.head, completeAt: undefined, error }, []);
  }
}
