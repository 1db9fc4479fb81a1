import { setTimeout as delay } from 'node:timers/promises';
import { errorText } from '../../src/lib/error-text.ts';
import { recoveryViolation, wrongLooks } from './invariants/recovery.ts';
import type { Violation } from './invariants/violation.ts';
import { attemptOnce } from './world/attempt.ts';
import type { World } from './world/world.ts';

const ATTEMPTS = 3;
const PAUSE_MS = 300;
/** The line of `/readyz` while the programs of ebpf mode serve the control group. */
const SOCKETS_SERVED = '[+]sockets ok: serving: ';
/** The proxy may need this long for the last change before the look. */
const LAST_CHANGE_MS = 1000;

/**
 * Waits until every address gets what the API server has. Returns a violation if that takes longer than the bound. With
 * `marks` it changes an object first, because a proxy that knows no changes is right while there are none.
 */
export async function untilRecovered(world: World, boundMs: number, marks = true): Promise<Violation | undefined> {
  const began = now();
  for (;;) {
    const wrong = await look(world, marks);
    if (wrong.length === 0) return undefined;
    // The time for which a busy machine kept the programs from working does not count.
    if (now() - began - world.starvation.waitedMs(began, now()) > boundMs) return recoveryViolation(wrong, boundMs);
    await delay(PAUSE_MS);
  }
}

function now(): number {
  return performance.timeOrigin + performance.now();
}

async function look(world: World, marks: boolean): Promise<readonly string[]> {
  await world.load.pause();
  try {
    const { status, text } = await world.node.health('/readyz?verbose');
    if (status !== 200) return [`/readyz is ${status}: ${text.trim()}`];
    if (world.proxy.mode === 'ebpf' && !text.includes(SOCKETS_SERVED))
      return [`sockets are not served: ${text.trim()}`];
    if (marks) await world.load.mark();
    await delay(LAST_CHANGE_MS);
    const { ledger, network } = world;
    const looks = ledger.addresses.map(async address => {
      const attempts = await Promise.all(Array.from({ length: ATTEMPTS }, () => attemptOnce(network.node, address)));
      return { address, expected: ledger.now(address), attempts };
    });
    return wrongLooks(await Promise.all(looks));
  } catch (error) {
    return [errorText(error)];
  } finally {
    world.load.resume();
  }
}
