import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseQuestion, QuestionError, questionTexts } from './question.ts';

const read = (to: string, from?: string, namespace?: string) => questionTexts(parseQuestion({ to, from, namespace }));

const good: readonly (readonly [text: string, want: string])[] = [
  ['web', 'default/web'],
  ['web:http', 'default/web:http'],
  ['web:80', 'default/web:80'],
  ['shop/web:80', 'shop/web:80'],
  ['shop/dns:53/udp', 'shop/dns:53/udp'],
  ['web.shop.svc', 'shop/web'],
  ['web.shop.svc.cluster.local:80', 'shop/web:80'],
  ['10.96.0.10:80', '10.96.0.10:80'],
  ['10.96.0.10:53/udp', '10.96.0.10:53/udp'],
  ['10.96.0.10:53/SCTP', '10.96.0.10:53/sctp'],
  ['[fd00::0:10]:80', '[fd00::10]:80'],
];
for (const [text, want] of good) {
  test(`EXPLAIN-1 ${text} asks for ${want}`, () => assert.equal(read(text).to, want));
}

test('EXPLAIN-1 a Service may have the name of a protocol', () => {
  assert.equal(read('default/udp').to, 'default/udp');
  assert.deepEqual(parseQuestion({ to: 'shop/udp' }).to, {
    kind: 'service',
    namespace: 'shop',
    name: 'udp',
    port: undefined,
    protocol: undefined,
  });
});

test('EXPLAIN-1 names without a namespace are in the one that the operator names', () => {
  assert.deepEqual(read('web:http', 'client-0', 'shop'), { to: 'shop/web:http', from: 'shop/client-0', probe: false });
});

test('EXPLAIN-1 a caller is a pod, an address, any pod, the node or outside', () => {
  const from = (text: string) => read('web', text).from;
  assert.deepEqual(['pod', 'node', 'outside', '10.0.0.1', 'fd00::1', 'web-0', 'shop/web-0.x'].map(from), [
    'pod',
    'node',
    'outside',
    '10.0.0.1',
    'fd00::1',
    'default/web-0',
    'shop/web-0.x',
  ]);
  assert.equal(read('web').from, undefined);
});

const bad: readonly (readonly [text: string, want: RegExp])[] = [
  ['10.96.0.10', /^10\.96\.0\.10 has no port: ask for 10\.96\.0\.10:PORT$/],
  ['fd00::1', /^fd00::1 has no port: ask for \[fd00::1\]:PORT$/],
  ['10.96.0.10:http', /^"http" is no port: after an address, give a number from 1 to 65535$/],
  ['10.96.0.10:70000', /^"70000" is no port/],
  ['web:', /^there is no port after the colon in "web:": ask for SERVICE, /],
  ['Web_1', /^"Web_1" is neither a name nor an address: ask for SERVICE, /],
  ['a/b/c', /^"a\/b\/c" is neither a name nor an address/],
];
for (const [text, want] of bad) {
  test(`EXPLAIN-1 ${text} is refused, and the message says how to ask`, () => {
    assert.throws(
      () => read(text),
      (error: unknown) => error instanceof QuestionError && want.test(error.message),
    );
  });
}

test('EXPLAIN-1 a caller that is neither a name nor an address is refused', () => {
  assert.throws(
    () => read('web', 'a b'),
    /"a b" is no caller: give POD, NAMESPACE\/POD, an IP address, pod, node or outside/,
  );
});
