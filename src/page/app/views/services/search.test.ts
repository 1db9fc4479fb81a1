import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indexed } from '../../state/service-index.ts';
import { testRow } from '../../test-row.ts';
import { parseTarget, searchMatcher, targetText } from './search.ts';

const SERVICES = [
  testRow('shop/cart', { addresses: ['10.96.0.40'], ports: ['80/TCP', '8443/TCP'] }),
  testRow('shop/web', { addresses: ['10.96.0.4', '203.0.113.9'], ports: ['80:30080/TCP'] }),
  testRow('kube-system/dns', { addresses: ['10.96.0.53', 'fd00:10:96::53'], ports: ['53/UDP', '53/TCP'] }),
  testRow('Test/Cart-80', { addresses: ['10.97.1.1'], ports: ['443/TCP'] }),
].map(indexed);

function found(text: string): readonly string[] {
  const matches = searchMatcher(text);
  return SERVICES.filter(service => !matches || matches(service)).map(({ key }) => key);
}

test('PAGE-40 a search finds names and namespaces, whatever the case', () => {
  assert.deepEqual(found(''), ['shop/cart', 'shop/web', 'kube-system/dns', 'Test/Cart-80']);
  assert.deepEqual(found('CART'), ['shop/cart', 'Test/Cart-80']);
  assert.deepEqual(found('shop/'), ['shop/cart', 'shop/web']);
  assert.deepEqual(found(' shop  web '), ['shop/web'], 'every word must match');
});

test('PAGE-40 a number is the beginning of an address or a port, or part of a name', () => {
  assert.deepEqual(found('10.96.0.4'), ['shop/cart', 'shop/web']);
  assert.deepEqual(found('80'), ['shop/cart', 'shop/web', 'Test/Cart-80']);
  assert.deepEqual(found('3008'), ['shop/web']);
  assert.deepEqual(found('0.4'), [], 'not the middle of an address');
});

test('PAGE-40 a port after a colon, and an address with a port, are exact', () => {
  assert.deepEqual(found(':80'), ['shop/cart', 'shop/web']);
  assert.deepEqual(found('10.96.0.4:80'), ['shop/web']);
  assert.deepEqual(found('10.96.0.4:30080'), ['shop/web']);
  assert.deepEqual(found('10.96.0.40:81'), []);
  assert.deepEqual(found('[fd00:10:96::53]:53'), ['kube-system/dns']);
  assert.deepEqual(found('FD00:10:96::53'), ['kube-system/dns']);
});

test('PAGE-40 only whole addresses are something to ask about', () => {
  assert.deepEqual(parseTarget('10.96.0.4'), { ip: '10.96.0.4' });
  assert.deepEqual(parseTarget('[FD00::1]:80'), { ip: 'fd00::1', port: 80 });
  for (const text of ['', 'cart', '10.96', '10.96.0.256', '1.2.3.4:0', '1.2.3.4:99999', ':80', '80', 'a:b', 'fd00']) {
    assert.equal(parseTarget(text), undefined, text);
  }
  assert.equal(targetText({ ip: 'fd00::1', port: 80 }), '[fd00::1]:80');
  assert.equal(targetText({ ip: '10.0.0.1', port: 80 }), '10.0.0.1:80');
  assert.equal(targetText({ ip: 'fd00::1' }), 'fd00::1');
});
