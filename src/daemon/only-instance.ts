import { InstanceLock } from '../kernel/instance-lock.ts';
import { sleep } from '../lib/sleep.ts';
import type { Logger } from '../observe/logging/index.ts';

const NAME = 'pointsman-kube-proxy';
const RETRY_MS = 1000;

/**
 * Waits until no other proxy of this program runs in this network namespace, because two would undo each other's work.
 * Returns undefined as soon as the caller no longer wants the lock.
 */
export async function becomeOnlyInstance(log: Logger, isWanted: () => boolean): Promise<InstanceLock | undefined> {
  for (let isLogged = false; isWanted(); isLogged = true) {
    const lock = InstanceLock.take(NAME);
    if (lock) return lock;
    if (!isLogged)
      log.error('daemon', 'Another Pointsman kube-proxy runs in this network namespace; waiting until it ends');
    await sleep(RETRY_MS);
  }
  return undefined;
}
