import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differenceUnderSteadyLoad } from '../../test/support/steady-load.ts';

for (const disturbance of ['an endpoint joins late', 'an endpoint loses all connections'] as const) {
  test(`BALANCE-45 BALANCE-64 in ipvs mode all endpoints are within one of the mean after ${disturbance}`, async () => {
    const difference = await differenceUnderSteadyLoad('ipvs', disturbance, { settling: 2, measured: 2 });
    assert.ok(difference <= 1, `${difference}`);
  });
}
