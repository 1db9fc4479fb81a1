import { describe, test } from 'node:test';
import { checkRamp } from '../../test/support/slow-start-ramp.ts';
import { ANNOTATION_BALANCE } from '../api/index.ts';

// Real connections to an old and a new endpoint, at each of the ten steps.
describe('slow start', () => {
  test('BALANCE-61 in nftables mode, a new endpoint gets exactly its part of the turns at each step', () =>
    checkRamp('nftables', { annotations: { [ANNOTATION_BALANCE]: 'round-robin' }, by: 'turns' }));

  test('BALANCE-61 in userspace mode, a new endpoint gets exactly its part of the turns at each step', () =>
    checkRamp('userspace', { by: 'turns' }));

  for (const mode of ['nftables', 'iptables', 'ebpf'] as const) {
    test(`BALANCE-61 in ${mode} mode, chance gives a new endpoint its part of the connections at each step`, () =>
      checkRamp(mode, { by: 'chance' }));
  }
});
