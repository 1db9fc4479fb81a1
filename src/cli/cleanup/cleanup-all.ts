import { errorText } from '../../lib/error-text.ts';
import { type Cleanup, MODES, type ModeDescriptor } from '../../modes/index.ts';
import type { Logger } from '../../observe/logging/index.ts';

type Cleanable = Pick<ModeDescriptor, 'name' | 'cleanup'>;

/** Cleans up after each mode. A mode that fails does not stop the others. */
export async function* cleanModes(
  modes: readonly Cleanable[] = MODES,
): AsyncGenerator<Cleanup & { readonly mode: string }> {
  for (const { name, cleanup } of modes) {
    yield { mode: name, ...(await cleanup().catch(error => ({ removed: [], errors: [error] }))) };
  }
}

/** What `--cleanup` does. */
export async function cleanupAll(log: Logger, modes: readonly Cleanable[] = MODES): Promise<void> {
  let failures = 0;
  for await (const { mode, removed, errors } of cleanModes(modes)) {
    for (const object of removed) log.info('cleanup', 'Removed what a mode wrote', { mode, object });
    for (const error of errors) {
      log.error('cleanup', 'Could not remove what a mode wrote', { err: errorText(error), mode });
    }
    failures += errors.length;
  }
  if (failures > 0) throw new Error('encountered an error while tearing down rules');
}
