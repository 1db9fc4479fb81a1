import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_PAGE_ADDRESS } from '../../page/index.ts';
import { demoPageOptions } from './page-options.ts';

const DEFAULT = { text: DEFAULT_PAGE_ADDRESS, isGiven: false, isOnce: false };

test('DEMO-11 the default page may use another port, and a given address may not', async () => {
  const usual = await demoPageOptions(DEFAULT);
  assert.deepEqual(usual?.address, { ip: '127.0.0.1', port: 10280, mayUseOtherPort: true, files: undefined });
  const given = await demoPageOptions({ text: '[::1]:5', isGiven: true, isOnce: true });
  assert.deepEqual(given?.address, { ip: '::1', port: 5, mayUseOtherPort: false, files: undefined });
});

test('DEMO-11 an empty address means no page, and with --once there is one only with the flag', async () => {
  assert.equal(await demoPageOptions({ ...DEFAULT, text: '', isGiven: true }), undefined);
  assert.equal(await demoPageOptions({ ...DEFAULT, isOnce: true }), undefined);
});

test('DEMO-11 the page of the demo listens only at loopback addresses', async () => {
  await assert.rejects(demoPageOptions({ text: '0.0.0.0:10280', isGiven: true, isOnce: false }), {
    name: 'FlagError',
    message: /has no token, so use 127\.0\.0\.1 or \[::1\]/,
  });
});
