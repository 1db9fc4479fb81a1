import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAddress, parseAddress, serviceAddress } from './address.ts';

test('PAGE-30 an address comes back as it was written', () => {
  const addresses = [
    { view: 'services', words: [], parameters: { q: '10.96.0.10:80 web', filter: 'broken', sort: 'state' } },
    { view: 'service', words: ['shop', 'cart'], parameters: { tab: 'kernel' } },
    { view: 'service', words: ['a/b', '<script>?&#'], parameters: {} },
  ] as const;
  for (const address of addresses) assert.deepEqual(parseAddress(formatAddress(address)), address);
  assert.equal(formatAddress(addresses[1]), '#/service/shop/cart?tab=kernel');
  assert.equal(serviceAddress('shop/cart'), '#/service/shop/cart');
});

test('PAGE-30 an address that names no view shows the Services', () => {
  for (const hash of ['', '#', '#/', '#/nothing/here', '#services']) {
    assert.equal(parseAddress(hash).view, 'services', hash);
  }
});

test('PAGE-30 a broken encoding is shown as it is', () => {
  assert.deepEqual(parseAddress('#/service/%zz/a%20b').words, ['%zz', 'a b']);
});

test('PAGE-30 a parameter without a value is left out', () => {
  assert.equal(
    formatAddress({ view: 'services', parameters: { q: '', filter: 'broken' } }),
    '#/services?filter=broken',
  );
});
