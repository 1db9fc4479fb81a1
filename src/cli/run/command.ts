import { setTimeout as delay } from 'node:timers/promises';
import { InstanceLock } from '../../kernel/instance-lock.ts';
import { Logger } from '../../lib/log.ts';
import { createProxy, MASQUERADE_BIT, syncIntervals } from '../../proxy/index.ts';
import { FilesSource } from '../../source/index.ts';
import type { Command, Io } from '../command.ts';
import {
  boolFlag,
  describeFlags,
  FlagError,
  type FlagSpec,
  type FlagValues,
  parseFlags,
  stringFlag,
} from '../flags.ts';
import { localNode } from '../local-node.ts';
import { manifestsFlag, NODE_FLAGS, nodeNameFlag, nodePortAddressesFlag, planSettings } from '../node-flags.ts';
import { loggingListeners } from './listeners.ts';

const FLAGS: readonly FlagSpec[] = [
  { name: 'proxy-mode', type: 'string', value: 'MODE', usage: 'nftables (default)' },
  ...NODE_FLAGS,
  { name: 'help', shorthand: 'h', type: 'bool', usage: 'this help' },
];

const HELP = `Programs the kernel so that Services work on this machine, and follows every change of the manifests.
SIGTERM and SIGINT end it; what is programmed stays.

Usage:
  kube-proxy --manifests DIR [flags]

Flags:
${describeFlags(FLAGS)}
`;

const LOCK = 'pointsman-kube-proxy';
const LOCK_RETRY_MS = 1000;

/** What kube-proxy does without a sub-command. */
export const runCommand: Command = {
  name: 'run',
  summary: 'program the kernel for a folder of manifests, and follow its changes',
  async run(args, io) {
    const { values, positional } = parseFlags(FLAGS, args);
    if (boolFlag(values, 'help')) {
      io.stdout.write(HELP);
      return 0;
    }
    if (positional.length > 0) {
      throw new FlagError(`"kube-proxy" does not take any arguments, got ${JSON.stringify(positional)}`);
    }
    const mode = stringFlag(values, 'proxy-mode') ?? 'nftables';
    if (mode !== 'nftables') throw new FlagError(`unknown proxy mode ${JSON.stringify(mode)}: must be nftables`);
    return serve(values, io);
  },
};

async function serve(values: FlagValues, io: Io): Promise<number> {
  const path = manifestsFlag(values);
  const nodeName = nodeNameFlag(values);
  const log = new Logger(line => io.stderr.write(line));
  const ended = untilSignalled();
  const lock = await takeLock(log, ended);
  if (!lock) return 0;
  const proxy = createProxy(
    {
      nodeName,
      live: {
        settings: planSettings(values),
        nodePortAddresses: nodePortAddressesFlag(values),
        masqueradeBit: MASQUERADE_BIT,
        intervals: syncIntervals(),
      },
    },
    loggingListeners(log),
  );
  const source = new FilesSource({ path, nodeName, localNode: () => localNode(nodeName) });
  try {
    await source.start(proxy.loop);
    log.info('proxy', 'Following manifests', { path, node: nodeName, mode: 'nftables' });
    const signal = await ended;
    log.info('proxy', 'Ending; what is programmed stays', { signal });
    return 0;
  } finally {
    await source.close();
    await proxy.close();
    lock.release();
  }
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
