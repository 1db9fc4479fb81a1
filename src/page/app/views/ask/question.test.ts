import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceRow } from '../../../../inspect/index.ts';
import { explainCommand, isCallerText, suggestions } from './question.ts';

function row(namespace: string, name: string, ...ports: string[]): ServiceRow {
  const nothing = { endpoints: [], connections: undefined, state: 'ok', reasons: [], changed: undefined };
  return { namespace, name, type: 'ClusterIP', addresses: [], ports, ...nothing } as unknown as ServiceRow;
}

const ROWS = [
  row('default', 'my-web', '80/TCP'),
  row('shop', 'web', '80:30080/TCP', '443/TCP'),
  row('kube-system', 'dns', '53/UDP', '53/TCP'),
  row('shop', 'headless'),
];

test('PAGE-80 suggestions are ports of Services; those that begin with the typed text come first', () => {
  assert.deepEqual(suggestions('web', ROWS), ['shop/web:80', 'shop/web:443', 'default/my-web:80']);
  assert.deepEqual(suggestions('SHOP/WEB:4', ROWS), ['shop/web:80', 'shop/web:443']);
  assert.deepEqual(suggestions('dns', ROWS), ['kube-system/dns:53/udp', 'kube-system/dns:53']);
  assert.deepEqual(suggestions('headless', ROWS), ['shop/headless']);
});

test('PAGE-80 there are at most 20 suggestions', () => {
  const many = Array.from({ length: 1000 }, (_, i) => row('default', `web-${i}`, '80/TCP', '443/TCP'));
  assert.equal(suggestions('web', many).length, 20);
  assert.equal(suggestions('-', many).length, 20);
});

test('PAGE-80 a text that has not the form of a caller is the wrong field', () => {
  for (const text of ['', 'node', 'outside', 'web-0', 'shop/web-0', '10.244.1.7', 'fd00::1', '[fd00::1]']) {
    assert.ok(isCallerText(text), text);
  }
  for (const text of ['a/b/c', 'Web', 'web:80', '<script>']) assert.ok(!isCallerText(text), text);
});

test('PAGE-82 the command has the same question, with words that a shell leaves alone', () => {
  assert.equal(explainCommand('kube-proxy', { from: '', to: 'shop/web:80' }), 'kube-proxy explain shop/web:80');
  const asked = { from: 'node', to: '[fd00::1]:53/udp' };
  assert.equal(
    explainCommand('kubectl exec kube-proxy-x -- kube-proxy', asked, true),
    "kubectl exec kube-proxy-x -- kube-proxy explain --from node '[fd00::1]:53/udp' --probe",
  );
  assert.equal(
    explainCommand('kube-proxy', { from: "a'$(id)", to: 'web' }),
    "kube-proxy explain --from 'a'\\''$(id)' web",
  );
});
