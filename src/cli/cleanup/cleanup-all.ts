import {
  type Cleanup,
  type CleanupOptions,
  type LeftoverError,
  leftoverOf,
  MODES,
  type ModeDescriptor,
} from '../../modes/index.ts';
import type { Logger } from '../../observe/logging/index.ts';

type Cleanable = Pick<ModeDescriptor, 'name' | 'cleanup'>;

export interface ModeCleanup {
  readonly mode: string;
  readonly removed: readonly string[];
  /** What stays. */
  readonly leftovers: readonly LeftoverError[];
}

/**
 * Cleans up after each mode. A mode that fails does not stop the others. Modes share chains, so what one mode had to
 * leave may be free after the cleanup of the others: such a mode gets a second attempt, and only that one reports what
 * stays. An object that two modes leave is reported once.
 */
export async function* cleanModes(
  options: CleanupOptions,
  modes: readonly Cleanable[] = MODES,
): AsyncGenerator<ModeCleanup> {
  const incomplete: Cleanable[] = [];
  for (const mode of modes) {
    const cleanup = await clean(mode, options);
    if (cleanup.leftovers.length > 0) incomplete.push(mode);
    yield { ...cleanup, leftovers: [] };
  }
  const reported = new Set<string>();
  for (const mode of incomplete) {
    const cleanup = await clean(mode, options);
    const leftovers = cleanup.leftovers.filter(({ object }) => !reported.has(object));
    for (const { object } of leftovers) reported.add(object);
    yield { ...cleanup, leftovers };
  }
}

async function clean({ name, cleanup }: Cleanable, options: CleanupOptions): Promise<ModeCleanup> {
  const object = `rules of mode ${name}`;
  const failed = (error: unknown): Cleanup => ({ removed: [], errors: [error], kept: [] });
  const { removed, errors, kept } = await cleanup(options).catch(failed);
  return { mode: name, removed, leftovers: [...errors.map(error => leftoverOf(object, error)), ...kept] };
}

/** What `--cleanup` does. */
export async function cleanupAll(
  log: Logger,
  options: CleanupOptions,
  modes: readonly Cleanable[] = MODES,
): Promise<void> {
  let count = 0;
  for await (const { mode, removed, leftovers } of cleanModes(options, modes)) {
    for (const object of removed) log.info('cleanup', 'Removed what a mode wrote', { mode, object });
    for (const { object, message } of leftovers) {
      log.error('cleanup', 'Could not remove what a mode wrote', { err: message, mode, object });
    }
    count += leftovers.length;
  }
  if (count > 0) throw new Error('encountered an error while tearing down rules');
}
