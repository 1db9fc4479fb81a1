import type { Family } from '../../net/index.ts';
import type { DriftSchedule } from '../drift-loop.ts';
import type { Drift, DriftLook } from '../writer.ts';
import type { Translation } from './generation/translation.ts';

/** The kernel does not notify anybody. A quick look asks for the links and takes a few microseconds. */
export const DRIFT_SCHEDULE: DriftSchedule = { quickMs: 10_000, thoroughMs: 'sync-period', pausePerLook: 20 };

/** Names of parts that a repair puts right. */
const LINKS: ReadonlySet<string> = new Set(['links']);
const MAPS: ReadonlySet<string> = new Set(['maps']);

export interface DriftContext {
  readonly family: Family;
  readonly translation: Translation;
  turn<T>(work: () => Promise<T>): Promise<T>;
  turnWithoutChange<T>(work: () => Promise<T>): Promise<T>;
}

/** A thorough look also compares the maps. First it tries again if nothing is served. */
export async function findDrift(context: DriftContext, look: DriftLook): Promise<Drift | undefined> {
  const { family, translation, turn, turnWithoutChange } = context;
  if (look === 'thorough') await turn(() => translation.tidy());
  return await turnWithoutChange(async () => {
    translation.renewLease();
    const links = translation.linkProblem();
    if (links !== undefined) return { cause: links, parts: LINKS };
    const maps = look === 'thorough' ? await translation.mapProblem(family) : undefined;
    return maps === undefined ? undefined : { cause: maps, parts: MAPS };
  });
}

/** Returns what the repair wrote, in words. A repair that fails leaves all sockets to the network. */
export async function repairDrift(translation: Translation, { parts }: Drift): Promise<string | undefined> {
  if (parts === LINKS) {
    if (translation.linkProblem() === undefined) return undefined;
    return (await translation.repairLinks()) ? 'put the programs back into their links' : undefined;
  }
  if (!translation.generation) return undefined;
  return (await translation.repairMaps()) ? 'wrote all maps again' : undefined;
}
