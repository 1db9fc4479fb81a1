import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askRoute } from '../../test/support/ask-route.ts';
import { factsOf } from '../../test/support/explain-facts.ts';
import { service, slice } from '../../test/support/objects.ts';
import type { KernelFacts } from '../explain/index.ts';
import { kernelRoute } from './kernel.ts';

const WEB = service('web', { ports: [{ name: 'a' }, { name: 'b', port: 81 }] });
const ENDPOINTS = slice('web-1', ['10.244.1.10'], {
  ports: [
    { name: 'a', protocol: 'TCP', port: 8080 },
    { name: 'b', protocol: 'TCP', port: 8081 },
  ],
});

async function ask(url: string, kernel: KernelFacts | undefined) {
  const facts = factsOf([WEB, ENDPOINTS], { kernel });
  const { status, lines } = await askRoute(
    kernelRoute(() => facts),
    url,
  );
  return { status, answer: lines[0] };
}

test('INSPECT-30 each port has the entries of the kernel, and how they differ from those that the mode wants', async () => {
  const entry = (wanted?: string, found?: string) => ({ kind: 'rule', place: 'chain x', wanted, found });
  const entries = [entry('x', 'x'), entry('x', 'y'), entry('x'), entry(undefined, 'y')];
  const { status, answer } = await ask('/v1/kernel?service=web', {
    readBack: async (_family, { port }) => {
      if (port.name === 'b') throw new Error('the kernel is gone');
      return { entries, affinity: [] };
    },
  });
  assert.deepEqual([status, answer.schema], [200, 'pointsman.kernel/v1']);
  const [a, b] = answer.ports;
  assert.deepEqual([a.name, a.protocol, a.family, a.affinity, a.incomplete], ['a', 'TCP', 'IPv4', [], undefined]);
  assert.deepEqual(
    a.entries.map(({ state }: { state: string }) => state),
    ['equal', 'different', 'missing', 'unexpected'],
  );
  assert.deepEqual([b.entries, b.incomplete], [[], 'the proxy could not read the kernel: the kernel is gone']);
});

test('INSPECT-30 an unknown Service, and a proxy without a kernel, are errors', async () => {
  const unknown = await ask('/v1/kernel?service=wbe', undefined);
  assert.deepEqual(
    [unknown.status, unknown.answer.error],
    [404, 'there is no Service "default/wbe": did you mean default/web?'],
  );
  assert.equal((await ask('/v1/kernel?service=web', undefined)).status, 400);
});

test('INSPECT-30 after very many entries no further port is read', async () => {
  const entry = { kind: 'rule', place: 'chain x', wanted: 'x', found: 'x' };
  const { answer } = await ask('/v1/kernel?service=web', {
    readBack: async () => ({ entries: Array.from({ length: 10_000 }, () => entry), affinity: [] }),
  });
  const [a, b] = answer.ports;
  assert.deepEqual([a.entries.length, a.incomplete], [10_000, undefined]);
  assert.deepEqual([b.entries, b.incomplete], [[], 'the ports before it have very many entries']);
});
