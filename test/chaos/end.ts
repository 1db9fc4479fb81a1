import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { Program } from '../control-plane/program.ts';
import { nft } from '../support/nftables-mode.ts';
import { withoutFirewall } from './invariants/firewall.ts';
import { judgeEndState, judgePlan, kernelState } from './invariants/fresh-start.ts';
import { judgeCleanup } from './invariants/leftovers.ts';
import type { Violation } from './invariants/violation.ts';
import { untilRecovered } from './recover.ts';
import type { World } from './world/world.ts';

/** The proxy removes unused chains a little later. */
const SETTLED_MS = 2500;
const RECOVERY_MS = 45_000;

/** Compares the rules with the plan and with those of a fresh start, and checks that `kube-proxy cleanup` leaves nothing. */
export async function checkEnd(world: World): Promise<readonly Violation[]> {
  const { proxy, network, load } = world;
  await load.pause();
  const atEnd = await settled(world);
  const planned = comparedWithPlan(world);
  await proxy.stop();
  const clean = await cleanUp(world);
  nft(network.node, 'flush', 'ruleset');
  world.keepNat();
  proxy.start();
  const late = await untilRecovered(world, RECOVERY_MS, false);
  const fresh = await settled(world);
  await proxy.stop();
  const mayLeaveFirewall = proxy.modesUsed.has('iptables') && proxy.mode !== 'iptables';
  const differs = judgeEndState(mayLeaveFirewall ? withoutFirewall(atEnd) : atEnd, fresh);
  return [planned, ...clean, late, differs].filter(violation => violation !== undefined);
}

async function settled(world: World): Promise<string> {
  for (let before = stateOf(world); ; ) {
    await delay(SETTLED_MS);
    const now = stateOf(world);
    if (now === before) return now;
    before = now;
  }
}

function stateOf(world: World): string {
  const lines = [...kernelState(world.network.node).split('\n'), ...world.pins()];
  return lines.filter(Boolean).join('\n');
}

/** In ebpf mode this compares the maps, too. Their numbers depend on history, so their texts cannot be compared. */
function comparedWithPlan({ proxy, network, cluster }: World): Violation | undefined {
  const objects = ['--kubeconfig', cluster.kubeconfig('admin')];
  const [program = '', ...args] = proxy.command('plan', ...objects, '--config', proxy.configurationFile, '--diff');
  const { stdout, stderr } = network.node.run(() => spawnSync(program, args, { encoding: 'utf8' }));
  return judgePlan(stdout, stderr);
}

async function cleanUp(world: World): Promise<readonly Violation[]> {
  const { proxy, network } = world;
  const program = new Program('cleanup', proxy.command('cleanup'), { namespace: network.node });
  const { status } = await program.exit;
  if (status !== 0) return [{ invariant: 'nothing is left behind', facts: `cleanup ended with status ${status}` }];
  const left = stateOf(world);
  return judgeCleanup(proxy.modesUsed.has('iptables') ? withoutFirewall(left) : left);
}
