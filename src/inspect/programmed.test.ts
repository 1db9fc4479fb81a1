import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askRoute } from '../../test/support/ask-route.ts';
import { factsOf } from '../../test/support/explain-facts.ts';
import { service } from '../../test/support/objects.ts';
import type { SetAside } from '../modes/index.ts';
import type { ProgrammedState } from '../proxy/index.ts';
import { programmedRoute } from './programmed.ts';

const STATE: ProgrammedState = {
  programmed: { services: '10', endpointSlices: '20' },
  received: { services: '11', endpointSlices: undefined },
  isPending: true,
  changes: 3,
};

function aside(name: string): SetAside {
  return {
    family: 'IPv4',
    namespace: 'default',
    name,
    port: 'http',
    protocol: 'TCP',
    cause: { code: 'INTERNAL', message: 'the kernel refused it' },
  };
}

async function ask(url: string, setAside: readonly SetAside[] = []) {
  const facts = factsOf([service('web')], { setAside });
  const route = programmedRoute(
    () => facts,
    () => STATE,
  );
  return (await askRoute(route, url)).lines[0];
}

test('PROGRAMMED-5 the answer has the versions, and the service ports that are set aside', async () => {
  const answer = await ask('/v1/programmed', [aside('web')]);
  assert.deepEqual(answer, {
    schema: 'pointsman.programmed/v1',
    node: answer.node,
    pending: true,
    programmed: { services: '10', endpointSlices: '20' },
    received: { services: '11' },
    setAside: [
      { service: 'default/web', port: 'http', protocol: 'TCP', family: 'IPv4', message: 'the kernel refused it' },
    ],
    setAsideCount: 1,
  });
});

test('PROGRAMMED-5 a question about one Service is answered about that Service', async () => {
  const answer = await ask('/v1/programmed?service=web', [aside('web'), aside('cart')]);
  assert.deepEqual(answer.service, { name: 'default/web', known: true });
  assert.equal(answer.setAsideCount, 1);
  assert.deepEqual((await ask('/v1/programmed?service=shop/web')).service, { name: 'shop/web', known: false });
});

test('PROGRAMMED-5 at most a hundred service ports are named', async () => {
  const answer = await ask(
    '/v1/programmed',
    Array.from({ length: 120 }, (_, i) => aside(`web-${i}`)),
  );
  assert.deepEqual([answer.setAside.length, answer.setAsideCount], [100, 120]);
});
