import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainCommand, isCallerText, suggestions } from './question.ts';

const SERVICES = new Map([
  ['default/my-web', { ports: ['80/TCP'] }],
  ['shop/web', { ports: ['80:30080/TCP', '443/TCP'] }],
  ['kube-system/dns', { ports: ['53/UDP', '53/TCP'] }],
  ['shop/headless', { ports: [] }],
]);

test('PAGE-80 suggestions are ports of Services; those that begin with the typed text come first', () => {
  assert.deepEqual(suggestions('web', SERVICES), ['shop/web:80', 'shop/web:443', 'default/my-web:80']);
  assert.deepEqual(suggestions('SHOP/WEB:4', SERVICES), ['shop/web:80', 'shop/web:443']);
  assert.deepEqual(suggestions('dns', SERVICES), ['kube-system/dns:53/udp', 'kube-system/dns:53']);
  assert.deepEqual(suggestions('headless', SERVICES), ['shop/headless']);
});

test('PAGE-80 there are at most 20 suggestions', () => {
  const ports = ['80/TCP', '443/TCP'];
  const many = new Map(Array.from({ length: 1000 }, (_, i) => [`default/web-${i}`, { ports }]));
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
