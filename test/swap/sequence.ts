import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Backend, ModeName, ProxyChoice, SwapStage, Version } from './swap-stage.ts';
import type { SwapTraffic } from './swap-traffic.ts';

/** An upstream proxy deletes chains only if no rule used them for a second. */
const STALE_MS = 1200;

/** What an upstream proxy logs if the kernel refuses its rules. */
const FAILURES =
  /sync failed|Unable to delete stale|Failed to (execute iptables-restore|sync|add|update|delete|bind|make sure)|Error adding|UnbindAddress/i;

export interface Sequence {
  readonly proxies: readonly ProxyChoice[];
  /** Connections a second, from the node and from outside each. */
  readonly rate: number;
  /** How often the endpoints change while each proxy runs. */
  readonly changes: number;
}

export const ours = (mode: ModeName, backend?: Backend): ProxyChoice => ({ program: 'ours', mode, backend });

/** Upstream, ours, upstream, ours. */
export function thereAndBack(program: Version, mode: ModeName, backend?: Backend): readonly ProxyChoice[] {
  const upstream = { program, mode, backend };
  return [upstream, ours(mode, backend), upstream, ours(mode, backend)];
}

/** Asserts that no connection fails while proxies follow one another, and that each proxy programs all changes. */
export async function assertSeamless(
  t: TestContext,
  stage: SwapStage,
  traffic: SwapTraffic,
  { proxies: [first, ...next], rate, changes }: Sequence,
): Promise<void> {
  assert.ok(first);
  await stage.clear();
  await traffic.setEndpoints(0);
  await stage.swap(first);
  await traffic.untilProgrammed(0);
  await stage.forgetAttempts();
  await traffic.start(rate);
  t.after(() => traffic.stop());
  let index: 0 | 1 = 0;
  let lostAtStarts = 0;
  for (const choice of next) {
    const lostBefore = traffic.lostOutside;
    const proxy = await stage.swap(choice);
    for (let change = 0; change < changes; change++) {
      index = index === 0 ? 1 : 0;
      await traffic.setEndpoints(index);
      await traffic.untilProgrammed(index);
      if (change === 0 && losesPackets(choice)) lostAtStarts += traffic.lostOutside - lostBefore;
      // The next change comes when the chains that this one replaced are stale.
      await delay(STALE_MS);
    }
    assert.deepEqual(
      proxy.lines.filter(line => FAILURES.test(line)),
      [],
    );
  }
  const { failures, lost, counts } = await traffic.stop();
  t.diagnostic(counts.map(({ name, answered, slowestMs }) => `${name} ${answered} in ${slowestMs} ms`).join(', '));
  if (lostAtStarts > 0) t.diagnostic(`upstream lost ${lostAtStarts} packets when it started`);
  assert.deepEqual(failures.slice(0, 20), [], `${failures.length} failures`);
  assert.equal(lost - lostAtStarts, 0, 'connections that needed more than one attempt');
  const remembered = counts.find(({ name }) => name === 'remembered');
  const modes = new Set([first, ...next].map(({ mode }) => mode));
  if (modes.size === 1) assert.equal(Object.keys(remembered?.answers ?? {}).length, 1, 'session affinity lasts');
}

/**
 * When upstream starts in nftables mode, a rule of its own replaces ours that guards a load-balancer IP. For a moment the
 * kernel does not find the allowed sources that this rule looks up, and drops a packet of an allowed client.
 */
function losesPackets({ program, mode }: ProxyChoice): boolean {
  return program !== 'ours' && mode === 'nftables';
}
