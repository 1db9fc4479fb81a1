import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askRoute } from '../../test/support/ask-route.ts';
import { listingFacts } from '../../test/support/listing-facts.ts';
import { service, slice } from '../../test/support/objects.ts';
import type { Family } from '../net/index.ts';
import { planName, type ServicePortPlan } from '../plan/index.ts';
import { rulesRoute } from './rules.ts';

const asked: string[] = [];
const FACTS = listingFacts({ services: [service('shop/web')], slices: [slice('shop/web-1', ['10.1.0.1'])] });
const ROUTE = rulesRoute(
  () => FACTS,
  async (family: Family, plans: readonly ServicePortPlan[]) => {
    asked.push([family, ...plans.map(planName)].join(' '));
    return { blocks: [] };
  },
);

test('LISTING-7 the answer names mode, families and Service, and has the blocks of the mode', async () => {
  asked.length = 0;
  const { status, lines } = await askRoute(ROUTE, '/v1/rules?service=shop/web');
  assert.equal(status, 200);
  const mode = FACTS.mode.descriptor.name;
  const answer = {
    schema: 'pointsman.rules/v1',
    mode,
    family: 'IPv4',
    families: ['IPv4'],
    service: 'shop/web',
    blocks: [],
  };
  assert.deepEqual(lines, [answer]);
  const { service: _service, ...without } = answer;
  assert.deepEqual((await askRoute(ROUTE, '/v1/rules?family=IPv4')).lines, [without]);
  assert.deepEqual(asked, ['IPv4 shop/web', 'IPv4']);
});

test('LISTING-7 a question about what does not exist is refused with a reason', async () => {
  const refusal = async (query: string) => {
    const { status, lines } = await askRoute(ROUTE, `/v1/rules?${query}`);
    return `${status} ${lines[0]?.error}`;
  };
  assert.equal(await refusal('service=shop/wep'), '400 there is no Service "shop/wep": did you mean shop/web?');
  assert.equal(await refusal('service=shop/*'), '400 "shop/*" is a pattern: name one Service');
  assert.equal(await refusal('family=IPv6'), '400 the proxy does not serve IPv6: use IPv4');
  assert.match(await refusal('family=IPX'), /^400 .*use IPv4 or IPv6$/);
});
