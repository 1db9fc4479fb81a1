import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planOf } from '../../test/support/plans.ts';
import { NOTHING, TestMode } from '../../test/support/test-mode.ts';

const plan = planOf('web', ['10.244.1.1']);

test('LISTING-5 a listing of a mode that has written nothing, or is closed, says so', async () => {
  const mode = new TestMode();
  const why = async () => (await mode.listing('IPv4', [plan])).incomplete;
  assert.equal(await why(), 'the mode has written nothing for IPv4 yet');
  await mode.start('IPv4', { ...NOTHING, added: [plan] });
  assert.equal(await why(), undefined);
  await mode.close();
  assert.equal(await why(), 'the mode is closed');
});

test('LISTING-5 a listing does not wait for a sync', async () => {
  const mode = new TestMode();
  await mode.start('IPv4', { ...NOTHING, added: [plan] });
  let end = () => {};
  mode.writer().nextWrite = () =>
    new Promise(resolve => {
      end = () => resolve('written');
    });
  const sync = mode.start();
  await new Promise(setImmediate);
  // The write has not ended, so a listing that took a turn would never end.
  assert.deepEqual(await mode.listing('IPv4', [plan]), { blocks: [] });
  end();
  await sync;
  await mode.close();
});
