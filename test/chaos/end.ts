import { setTimeout as delay } from 'node:timers/promises';
import { Program } from '../control-plane/program.ts';
import { nft } from '../support/nftables-mode.ts';
import { judgeEndState, kernelState } from './invariants/fresh-start.ts';
import { judgeCleanup } from './invariants/leftovers.ts';
import type { Violation } from './invariants/violation.ts';
import { untilRecovered } from './recover.ts';
import type { World } from './world/world.ts';

/** The proxy removes unused chains a little later. */
const SETTLED_MS = 2500;
const RECOVERY_MS = 45_000;

/** Compares the rules with those of a fresh start, and checks that `kube-proxy cleanup` leaves nothing. */
export async function checkEnd(world: World): Promise<readonly Violation[]> {
  const { proxy, network, load } = world;
  await load.pause();
  const atEnd = await settled(world);
  await proxy.stop();
  const clean = await cleanUp(world);
  nft(network.node, 'flush', 'ruleset');
  world.keepNat();
  proxy.start();
  const late = await untilRecovered(world, RECOVERY_MS, false);
  const fresh = await settled(world);
  await proxy.stop();
  const differs = judgeEndState(atEnd, fresh);
  return [...clean, ...(late ? [late] : []), ...(differs ? [differs] : [])];
}

async function settled({ network }: World): Promise<string> {
  for (let before = kernelState(network.node); ; ) {
    await delay(SETTLED_MS);
    const now = kernelState(network.node);
    if (now === before) return now;
    before = now;
  }
}

async function cleanUp({ proxy, network }: World): Promise<readonly Violation[]> {
  const program = new Program('cleanup', [...proxy.command, 'cleanup'], { namespace: network.node });
  const { status } = await program.exit;
  if (status !== 0) return [{ invariant: 'nothing is left behind', facts: `cleanup ended with status ${status}` }];
  return judgeCleanup(network.node);
}
