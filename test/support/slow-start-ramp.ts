import assert from 'node:assert/strict';
import { ANNOTATION_SLOW_START } from '../../src/api/index.ts';
import type { LabMode } from './lab-mode.ts';
import { ManualClock } from './manual-clock.ts';
import { ServingNode } from './serving-node.ts';

const OLD = '10.244.1.1';
const NEW = '10.244.1.2';
const STEPS = 10;
const STEP_SECONDS = 2;
/** With fewer, a ramp that is one step early or late could pass as chance. */
const CONNECTIONS_BY_CHANCE = 600;
/**
 * The chi-square of ten steps has ten degrees of freedom. Chance exceeds 48 with the probability
 * exp(-24) * (1 + 24 + 24² / 2 + 24³ / 6 + 24⁴ / 24), which is six in ten million.
 */
const MAX_CHI_SQUARE = 48;

export interface RampOptions {
  readonly annotations?: Readonly<Record<string, string>>;
  /** How the mode chooses an endpoint. */
  readonly by: 'turns' | 'chance';
}

/** Checks with real connections that a new endpoint gets one tenth, two tenths and so on of its share. */
export async function checkRamp(mode: LabMode, { annotations, by }: RampOptions): Promise<void> {
  const clock = new ManualClock();
  const options = { ...annotations, [ANNOTATION_SLOW_START]: String(STEPS * STEP_SECONDS) };
  await ServingNode.use(
    async node => {
      await node.serve(OLD, NEW);
      await node.balance(options, [OLD]);
      await node.balance(options, [OLD, NEW]);
      if (mode === 'ebpf') assert.equal(node.proxy.mode.condition?.()?.isServing, true, 'sockets choose');
      let chiSquare = 0;
      for (let step = 1; step <= STEPS; step++) {
        if (by === 'turns') {
          assert.deepEqual(await node.countNew([OLD, NEW], STEPS + step), [STEPS, step]);
        } else {
          chiSquare += chiSquareOf(await node.countNew([OLD, NEW], CONNECTIONS_BY_CHANCE), [STEPS, step]);
        }
        await clock.advance(STEP_SECONDS * 1000);
        await node.proxy.loop.settled();
      }
      assert.ok(chiSquare < MAX_CHI_SQUARE, `${chiSquare}`);
      assert.deepEqual([clock.pending, node.weights], [0, undefined], 'after the last step nothing is left');
      if (by === 'turns') assert.deepEqual(await node.countNew([OLD, NEW], 20), [10, 10]);
    },
    { mode, feedbackClock: clock },
  );
}

/** All connections must have an endpoint. */
function chiSquareOf(counts: readonly number[], weights: readonly number[]): number {
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  assert.equal(sum(counts), CONNECTIONS_BY_CHANCE);
  const connections = sum(counts) / sum(weights);
  return sum(
    counts.map((count, i) => (count - connections * (weights[i] ?? 0)) ** 2 / (connections * (weights[i] ?? 0))),
  );
}
