import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plansOf } from '../../../test/support/iptables-plans.ts';
import { planned } from '../../../test/support/ipvs-plan.ts';
import { blockOf, groupsOf, lineText, wrongLinks } from '../../../test/support/listed-lines.ts';
import { modeSettingsFor } from '../../../test/support/mode-harness.ts';
import { service, slice } from '../../../test/support/objects.ts';
import type { Ip } from '../../net/index.ts';
import type { ServicePortPlan } from '../../plan/index.ts';
import { listIpvs } from './listing.ts';
import { renderContext } from './render.ts';
import { ruleInput } from './rules/rule-text.ts';
import { RenderedPlans } from './wanted/rendered-plans.ts';

const WEB = service('web', {
  type: 'LoadBalancer',
  clusterIP: '10.96.0.10',
  externalIPs: ['198.51.100.7'],
  ingress: [{ ip: '203.0.113.1' }],
  loadBalancerSourceRanges: ['198.51.100.0/24'],
  ports: [{ port: 80, nodePort: 30080 }],
});
const OTHER = service('other', {
  type: 'LoadBalancer',
  clusterIP: '10.96.0.11',
  ingress: [{ ip: '203.0.113.2' }],
  loadBalancerSourceRanges: ['198.51.100.0/24'],
});
const SLICES = [
  slice('web-1', [{ ip: '10.244.1.2', nodeName: 'node-a' }, '10.244.2.2']),
  slice('other-1', ['10.244.2.9']),
];
const SETTINGS = modeSettingsFor('IPv4');
const NODE_IPS = ['192.168.0.2' as Ip];
const PLANS = plansOf(
  { services: [WEB, OTHER], slices: SLICES },
  { overrides: { localDetector: SETTINGS.localDetector } },
);
const of = (name: string) => PLANS.filter(plan => plan.service === `default/${name}`);

function list(plans: readonly ServicePortPlan[], all = PLANS) {
  const context = renderContext({ family: 'IPv4', scheduler: 'rr', settings: SETTINGS, nodeIPs: NODE_IPS });
  const rendered = new RenderedPlans(context);
  rendered.take({ added: all, updated: [], removed: [] });
  const { wanted } = rendered;
  return listIpvs({ plans, context, wanted, rules: ruleInput('IPv4', wanted, SETTINGS, true) });
}

describe('the listing of ipvs mode', () => {
  test('LISTING-2 with the only Service, the listing has exactly what a first start writes', () => {
    const listing = list(of('web'), of('web'));
    const { text } = planned([WEB, ...SLICES.slice(0, 1)]);
    const written = text
      .split('\n')
      .filter(line => /^(add|-A|-a) /.test(line) || /^[\d.]+$/.test(line))
      .map(line => (/^[\d.]+$/.test(line) ? `inet ${line}/32` : line));
    const builtIn = listing.blocks.filter(({ head }) => head?.includes('hook'));
    const own = listing.blocks.filter(block => !builtIn.includes(block));
    assert.deepEqual(own.flatMap(({ lines }) => lines.map(lineText)).sort(), written.sort());
    assert.equal(builtIn.flatMap(({ lines }) => lines).length, text.match(/^-I /gm)?.length);
    for (const { id, lines, total } of listing.blocks) assert.equal(lines.length, total, id);
    assert.deepEqual(wrongLinks(listing), []);
  });

  test('LISTING-3 the objects of other Services are counted, and not listed', () => {
    const listing = list(of('web'));
    const numbers = (id: string) => [blockOf(listing, id).lines.length, blockOf(listing, id).total];
    assert.deepEqual(numbers('set KUBE-CLUSTER-IP'), [1, 2]);
    assert.deepEqual(numbers('virtual servers'), [4, 6]);
    assert.deepEqual(numbers('addresses of kube-ipvs0'), [3, 5]);
    assert.deepEqual(numbers('chain filter KUBE-IPVS-OUT-FILTER'), [1, 2]);
    assert.deepEqual(numbers('virtual server -t 10.96.0.10:80'), [2, 2]);
  });

  test('LISTING-6 every chain and set says what it is for', () => {
    const { blocks } = list(of('web'));
    for (const { id, about } of blocks) assert.match(about ?? '', /^[A-Z].*\.$/, id);
    assert.ok(blocks.every(({ command }) => command !== undefined));
  });

  test('LISTING-1 packets meet the addresses before the input chain, and the virtual servers after it', () => {
    const listing = list(of('web'));
    assert.deepEqual(groupsOf(listing), [
      'prerouting',
      'routing',
      'input',
      'forward',
      'output',
      'postrouting',
      'sets that no rule uses now',
    ]);
    const links = blockOf(listing, 'virtual servers').lines.map(({ parts }) =>
      parts.filter(part => typeof part !== 'string'),
    );
    assert.deepEqual(links[0], [{ text: '-t 10.96.0.10:80', block: 'virtual server -t 10.96.0.10:80' }]);
  });
});
