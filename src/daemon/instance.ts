import { setTimeout as delay } from 'node:timers/promises';
import { InstanceLock } from '../kernel/instance-lock.ts';
import type { Logger } from '../observe/logging/index.ts';

const NAME = 'pointsman-kube-proxy';
const RETRY_MS = 1000;

/** Two proxies in one network would undo each other's work, so the second waits until the first has ended. */
export async function becomeOnlyInstance(log: Logger, isWanted: () => boolean): Promise<InstanceLock | undefined> {
  for (let told = false; isWanted(); told = true) {
    const lock = InstanceLock.take(NAME);
    if (lock) return lock;
    if (!told) log.error('daemon', 'Another kube-proxy of this kind runs in this network; waiting until it ends');
    await delay(RETRY_MS);
  }
  return undefined;
}
