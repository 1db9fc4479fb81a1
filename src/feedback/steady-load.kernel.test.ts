import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { differenceUnderSteadyLoad } from '../../test/support/steady-load.ts';

// Real connections. In the time of the test's clock, 12 come in a second, and each stays for four seconds.
describe('least connections under steady load', () => {
  for (const disturbance of ['an endpoint joins late', 'an endpoint loses all connections'] as const) {
    test(`BALANCE-62 BALANCE-64 in nftables mode all endpoints are within one of the mean after ${disturbance}`, async () => {
      const difference = await differenceUnderSteadyLoad('nftables', disturbance, { settling: 6, measured: 2 });
      assert.ok(difference <= 1, `${difference}`);
    });

    test(`BALANCE-53 BALANCE-64 in userspace mode all endpoints are within one of the mean after ${disturbance}`, async () => {
      const difference = await differenceUnderSteadyLoad('userspace', disturbance, { settling: 2, measured: 2 });
      assert.ok(difference <= 1, `${difference}`);
    });

    test(`BALANCE-57 BALANCE-64 in ebpf mode all endpoints are within one of the mean after ${disturbance}`, async () => {
      const difference = await differenceUnderSteadyLoad('ebpf', disturbance, { settling: 2, measured: 2 });
      assert.ok(difference <= 1, `${difference}`);
    });
  }
});
