import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plansOf, rulesFor } from '../../../test/support/iptables-plans.ts';
import { blockOf, groupsOf, linesOf, lineText, wrongLinks } from '../../../test/support/listed-lines.ts';
import { service, slice } from '../../../test/support/objects.ts';
import type { ServicePortPlan } from '../../plan/index.ts';
import { listIptables } from './listing.ts';
import { chainsOf } from './names.ts';
import { fullText } from './render.ts';
import { JUMPS } from './rules/fixed-rules.ts';
import { RuleCounts } from './rules/rule-counts.ts';

const WEB = service('web', {
  type: 'LoadBalancer',
  clusterIP: '10.96.0.10',
  externalIPs: ['198.51.100.7'],
  ingress: [{ ip: '203.0.113.1' }],
  loadBalancerSourceRanges: ['198.51.100.0/24'],
  sessionAffinity: 'ClientIP',
  ports: [{ port: 80, nodePort: 30080 }],
});
// Both want the same external address and port.
const OTHER = service('other', { clusterIP: '10.96.0.11', externalIPs: ['198.51.100.7'] });
const NONE = service('none', { clusterIP: '10.96.0.13', type: 'NodePort', ports: [{ port: 80, nodePort: 30081 }] });
const PLANS = plansOf({
  services: [WEB, OTHER, NONE],
  slices: [slice('web-1', [{ ip: '10.244.1.2', nodeName: 'node-a' }, '10.244.2.2']), slice('other-1', ['10.244.2.9'])],
});
const OPTIONS = rulesFor();
const of = (name: string) => PLANS.filter(plan => plan.service === `default/${name}`);
const inputsOf = (plans: readonly ServicePortPlan[]) => plans.map(plan => ({ plan, withComments: true }));

/** The counts after a full write of these plans. */
function countsOf(plans: readonly ServicePortPlan[]): RuleCounts {
  const text = fullText(plans, OPTIONS, true);
  const totals = { filter: text.table('filter').added, nat: text.table('nat').added };
  return new RuleCounts(totals, inputsOf(plans), OPTIONS);
}

const list = (plans: readonly ServicePortPlan[], counted = PLANS) =>
  listIptables({ options: OPTIONS, inputs: inputsOf(plans), counts: countsOf(counted) });

describe('the listing of iptables mode', () => {
  test('LISTING-2 with the only Service, the listing has exactly the lines of a full write, and the jumps', async () => {
    for (const name of ['web', 'other', 'none']) {
      const plans = of(name);
      const listing = await list(plans, plans);
      const text = fullText(plans, OPTIONS, true);
      const written = [...text.table('filter').rules, ...text.table('nat').rules];
      const builtIn = listing.blocks.filter(({ head }) => head?.includes('hook'));
      const own = listing.blocks.filter(block => !builtIn.includes(block));
      assert.deepEqual(own.flatMap(({ lines }) => lines.map(lineText)).sort(), written.sort(), name);
      assert.equal(builtIn.flatMap(({ lines }) => lines).length, JUMPS.length);
      for (const { id, lines, total } of listing.blocks) assert.equal(lines.length, total, `${name} ${id}`);
      assert.equal(listing.notListed, undefined, name);
      assert.deepEqual(wrongLinks(listing), [], name);
    }
  });

  test('LISTING-2 the rules of a chain stand in the order of a full write', async () => {
    const text = fullText(PLANS, OPTIONS, true);
    const listing = await list(PLANS);
    for (const table of ['filter', 'nat'] as const) {
      for (const chain of text.table(table).chains) {
        const rules = text.table(table).rules.filter(rule => rule.startsWith(`-A ${chain} `));
        assert.deepEqual(linesOf(listing, `chain ${table} ${chain}`), rules, `${table} ${chain}`);
      }
    }
  });

  test('LISTING-3 the rules of other Services are counted, and not listed', async () => {
    const listing = await list(of('none'));
    const text = fullText(PLANS, OPTIONS, true);
    const services = blockOf(listing, 'chain nat KUBE-SERVICES');
    assert.equal(services.total, text.table('nat').rules.filter(rule => rule.startsWith('-A KUBE-SERVICES ')).length);
    assert.equal(services.lines.length, 1);
    const inOwnChains = text.table('nat').rules.filter(rule => /^-A KUBE-(SVC|SVL|EXT|FW|SEP)-/.test(rule)).length;
    assert.deepEqual(listing.notListed, [{ what: 'rules in chains of other Services', count: inOwnChains }]);
  });

  test('LISTING-5 the listing of a Service with thousands of endpoints is cut, and its links lead to blocks', async () => {
    const ips = Array.from({ length: 1600 }, (_, i) => `10.245.${i >> 8}.${i & 255}`);
    const plans = plansOf({ services: [WEB], slices: [slice('web-1', ips)] });
    const listing = await listIptables({ options: OPTIONS, inputs: inputsOf(plans), counts: countsOf([]) });
    assert.match(listing.incomplete ?? '', /only the first 3000 lines of the Service$/);
    assert.ok(linesOf(listing).length < 3100);
    const { lines, total } = blockOf(listing, `chain nat ${chainsOf(plans[0] ?? assert.fail()).svc}`);
    assert.deepEqual([lines.length < total, total], [true, 3201]);
    const ids = new Set(listing.blocks.map(({ id }) => id));
    const links = listing.blocks.flatMap(block => block.lines.flatMap(({ parts }) => parts));
    assert.ok(links.every(part => typeof part === 'string' || ids.has(part.block)));
  });

  test('LISTING-6 a chain whose name is a hash says what it is for, and whose it is', async () => {
    const { blocks } = await list(of('web'));
    for (const { id, about } of blocks) assert.match(about ?? '', /^[A-Z].*\.$/, id);
    const own = blocks.filter(({ servicePort }) => servicePort !== undefined);
    assert.deepEqual([...new Set(own.map(({ servicePort }) => servicePort))], ['default/web']);
    assert.deepEqual(own.map(({ name }) => name.split('-')[1]).sort(), ['EXT', 'FW', 'SEP', 'SEP', 'SVC']);
    assert.ok(own.every(({ command, name }) => command === `iptables -t nat -S ${name}`));
  });

  test('LISTING-1 packets meet the chains hook by hook', async () => {
    assert.deepEqual(groupsOf(await list(of('web'))), [
      'prerouting',
      'input',
      'forward',
      'output',
      'postrouting',
      'to notice changes',
    ]);
  });
});
