import { test } from 'node:test';
import { checkRamp } from '../../test/support/slow-start-ramp.ts';

test('BALANCE-61 in ipvs mode, a new endpoint gets exactly its part of the turns at each step', () =>
  checkRamp('ipvs', { by: 'turns' }));
