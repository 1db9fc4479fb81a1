import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Configuration } from '../../config/index.ts';
import type { DaemonOptions } from '../../daemon/index.ts';
import { localNode } from '../../daemon/index.ts';
import { InstanceLock } from '../../kernel/instance-lock.ts';
import { toMilliseconds } from '../../lib/duration.ts';
import type { Logger } from '../../logging/index.ts';
import { nodeNameFrom } from '../../model/index.ts';
import { DEFAULT_PLAN_SETTINGS } from '../../plan/index.ts';
import { createProxy, type LiveConfig, MASQUERADE_BIT, syncIntervals } from '../../proxy/index.ts';
import { FilesSource } from '../../source/index.ts';
import { loggingListeners } from './listeners.ts';

const LOCK = 'pointsman-kube-proxy';
const LOCK_RETRY_MS = 1000;

/** Programs the kernel for a folder of manifests and follows its changes until SIGTERM or SIGINT; what is programmed stays. */
export async function serve(path: string, { configuration, log }: DaemonOptions): Promise<void> {
  const { mode } = configuration;
  if (mode !== 'nftables') throw new Error(`manifests are followed in nftables mode only, not in ${mode} mode`);
  const nodeName = nodeNameFrom(configuration.hostnameOverride, hostname()) ?? 'localhost';
  const ended = untilSignalled();
  const lock = await takeLock(log, ended);
  if (!lock) return;
  const proxy = createProxy(
    {
      nodeName,
      live: liveConfig(configuration),
    },
    loggingListeners(log),
  );
  const source = new FilesSource({ path, nodeName, localNode: () => localNode(nodeName) });
  try {
    await source.start(proxy.loop);
    log.info('proxy', 'Following manifests', { path, node: nodeName, mode });
    const signal = await ended;
    log.info('proxy', 'Ending; what is programmed stays', { signal });
  } finally {
    await source.close();
    await proxy.close();
    lock.release();
  }
}

function liveConfig(configuration: Configuration): LiveConfig {
  const { detectLocalMode, detectLocal, bindAddress, linux, minSyncPeriod, syncPeriod } = configuration;
  return {
    settings: {
      ...DEFAULT_PLAN_SETTINGS,
      ...detectLocal,
      mode: detectLocalMode,
      bindAddress,
      masqueradeAll: linux.masqueradeAll,
    },
    nodePortAddresses: configuration.nodePortAddresses ?? [],
    masqueradeBit: configuration.nftables.masqueradeBit ?? MASQUERADE_BIT,
    intervals: syncIntervals(toMilliseconds(minSyncPeriod), toMilliseconds(syncPeriod)),
  };
}

/** Two proxies in one network would undo each other's work, so the second waits. */
async function takeLock(log: Logger, ended: Promise<string>): Promise<InstanceLock | undefined> {
  let isEnded = false;
  ended.then(() => {
    isEnded = true;
  });
  for (let told = false; !isEnded; told = true) {
    const lock = InstanceLock.take(LOCK);
    if (lock) return lock;
    if (!told) log.error('proxy', 'Another kube-proxy of this kind runs in this network; waiting until it ends');
    await Promise.race([delay(LOCK_RETRY_MS), ended]);
  }
  return undefined;
}

function untilSignalled(): Promise<string> {
  return new Promise(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal));
  });
}
