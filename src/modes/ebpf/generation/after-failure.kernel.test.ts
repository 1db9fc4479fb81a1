import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { EbpfLab } from '../../../../test/support/ebpf-mode.ts';
import { service, slice } from '../../../../test/support/objects.ts';
import { BpfMap, BpfProgram } from '../../../kernel/bpf/index.ts';
import { KernelError } from '../../../kernel/errors.ts';

function noMemory(): never {
  throw new KernelError('KERNEL_REFUSED', { operation: 'bpf MAP_UPDATE_BATCH frontends4', errno: 'ENOMEM' });
}

/** Serves a Service. Then a write fails, and the network serves alone. */
async function stopServing(lab: EbpfLab, context: TestContext): Promise<void> {
  lab.harness.set(service('web', { clusterIP: '10.96.0.10' }), slice('web-1', ['10.244.1.2']));
  await lab.harness.sync();
  for (let i = 0; i < 3; i++) lab.ask('10.96.0.10');
  const mock = context.mock.method(BpfMap.prototype, 'updateBatch', noMemory);
  lab.harness.set(service('other', { clusterIP: '10.96.0.11' }));
  await lab.harness.sync({}, ['IPv4']);
  mock.mock.restore();
  assert.equal(lab.harness.mode.condition().isServing, false);
}

describe('after a failure', () => {
  test('EBPF-35 the counts of connections stay while nothing is served', context =>
    EbpfLab.with(
      async lab => {
        const counts = async () => [...((await lab.harness.mode.connectionCounts()) ?? [])];
        await stopServing(lab, context);
        assert.deepEqual(await counts(), [['default/web', 3]]);
        await lab.harness.sync();
        lab.ask('10.96.0.10');
        assert.deepEqual(await counts(), [['default/web', 4]]);
      },
      { countConnections: true },
    ));

  test('EBPF-22 the mode does not try once more what the kernel can do', context =>
    EbpfLab.with(async lab => {
      await stopServing(lab, context);
      const { mock } = context.mock.method(BpfProgram, 'load');
      await lab.harness.sync();
      assert.equal(lab.ask('10.96.0.10'), '10.244.1.2');
      assert.equal(mock.callCount(), 4);
    }));
});
