import { setTimeout as delay } from 'node:timers/promises';
import type { World } from '../world/world.ts';

/** Does the work while nobody changes objects, because the API server does not answer. */
export async function whileApiIsAway(world: World, work: () => Promise<void>): Promise<void> {
  await world.load.pause();
  const since = performance.timeOrigin + performance.now();
  try {
    // The server may have older objects when it is back, before this process has read them.
    await world.ledger.whileIncomplete(async () => {
      await work();
      await readBack(world, since);
    });
  } finally {
    world.load.resume();
  }
}

/** A server that was away may refuse some requests at first. */
async function readBack(world: World, since: number): Promise<void> {
  for (let tries = 20; ; tries--) {
    try {
      await world.load.readBack(since);
      return;
    } catch (error) {
      if (tries === 0) throw error;
      await delay(500);
    }
  }
}
