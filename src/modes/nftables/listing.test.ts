import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plansOf } from '../../../test/support/iptables-plans.ts';
import { blockOf, groupsOf, linesOf, lineText, wrongLinks } from '../../../test/support/listed-lines.ts';
import { modeSettingsFor } from '../../../test/support/mode-harness.ts';
import { service, slice } from '../../../test/support/objects.ts';
import type { Family } from '../../net/index.ts';
import type { PlanDiff, ServicePortPlan } from '../../plan/index.ts';
import type { Listing } from '../listing.ts';
import { SILENT_EVENTS } from '../mode.ts';
import { PlanBook } from '../plan-book.ts';
import { RecordedTable } from './kernel-state/table-access.ts';
import { layoutOf } from './table/layout.ts';
import { NftablesWriter } from './writer.ts';

const OBJECTS = {
  services: [
    service('web', {
      type: 'LoadBalancer',
      clusterIP: '10.96.0.10',
      externalIPs: ['198.51.100.7'],
      ingress: [{ ip: '203.0.113.1' }],
      loadBalancerSourceRanges: ['198.51.100.0/24'],
      ports: [{ port: 80, nodePort: 30080 }],
    }),
    service('sticky', { clusterIP: '10.96.0.11', sessionAffinity: 'ClientIP' }),
    service('local', {
      type: 'NodePort',
      clusterIP: '10.96.0.12',
      externalTrafficPolicy: 'Local',
      ports: [{ port: 80, nodePort: 30081 }],
    }),
    service('none', { clusterIP: '10.96.0.13' }),
  ],
  slices: [
    slice('web-1', [{ ip: '10.244.1.2', nodeName: 'node-a' }, '10.244.2.2', '10.244.2.3']),
    slice('sticky-1', ['10.244.2.4', '10.244.2.5']),
    slice('local-1', [{ ip: '10.244.1.3', nodeName: 'node-a' }, '10.244.2.6']),
  ],
};
const PLANS = plansOf(OBJECTS);
const of = (name: string, plans = PLANS) => plans.filter(plan => plan.service === `default/${name}`);
const added = (plans: readonly ServicePortPlan[]): PlanDiff => ({ added: plans, updated: [], removed: [] });

/** A writer whose table keeps what it commits. */
function writerOf(family: Family = 'IPv4', countConnections = true) {
  const table = new RecordedTable();
  const book = new PlanBook(family);
  const settings = modeSettingsFor(family);
  const writer = new NftablesWriter(layoutOf(family, { countConnections }), settings, table, book, SILENT_EVENTS);
  const write = async (diff: PlanDiff) => {
    book.take(diff);
    await writer.write();
  };
  return { writer, write, written: () => table.transactions.map(String).join('').trim().split('\n') };
}

/** The commands that would write what is listed: `add rule ip kube-proxy services …`. */
function commands({ blocks }: Listing, isKept: (line: Listing['blocks'][number]['lines'][number]) => boolean) {
  return blocks.flatMap(({ kind, name, lines }) =>
    lines
      .filter(isKept)
      .map(lineText)
      .map(text =>
        kind === 'chain' ? `add rule ip kube-proxy ${name} ${text}` : `add element ip kube-proxy ${name} { ${text} }`,
      ),
  );
}

describe('the listing of nftables mode', () => {
  test('LISTING-2 with the only Service, the listing has exactly the rules and elements that the mode writes', async () => {
    for (const name of ['web', 'sticky', 'local', 'none']) {
      const { writer, write, written } = writerOf();
      await write(added(of(name)));
      const listing = await writer.listing(of(name));
      const lines = written().filter(line => /^add (rule|element) /.test(line));
      assert.deepEqual(commands(listing, () => true).sort(), lines.sort(), name);
      const objects = written().flatMap(
        line => /^add (chain|map|set) ip kube-proxy (\S+)/.exec(line)?.slice(1).join(' ') ?? [],
      );
      assert.deepEqual(listing.blocks.map(({ id }) => id).sort(), objects.sort(), name);
      assert.deepEqual(wrongLinks(listing), [], name);
      assert.equal(listing.notListed, undefined, name);
      for (const { id, lines: own, total } of listing.blocks) assert.equal(own.length, total, `${name} ${id}`);
    }
  });

  test('LISTING-3 the lines of other Services are counted, and not listed', async () => {
    const { writer, write, written } = writerOf();
    await write(added(PLANS));
    const listing = await writer.listing(of('web'));
    const all = written().join('\n');
    for (const { kind, name, total } of listing.blocks.filter(block => block.kind !== 'chain')) {
      const count = all.split(`add element ip kube-proxy ${name} {`).length - 1;
      assert.equal(total, count, `${kind} ${name}`);
    }
    assert.ok(!linesOf(listing).some(line => line.includes('10.96.0.11')));
    const chains = all.match(/^add chain /gm)?.length ?? 0;
    const listed = listing.blocks.filter(({ kind }) => kind === 'chain').length;
    assert.deepEqual(listing.notListed, [{ what: 'chains of other Services', count: chains - listed }]);
    const services = listing.blocks.flatMap(({ lines }) => lines.flatMap(({ service: name }) => name ?? []));
    assert.deepEqual([...new Set(services)], ['default/web']);
  });

  test('LISTING-3 the counts follow changes of plans', async () => {
    const changed = plansOf({ ...OBJECTS, slices: [slice('web-1', ['10.244.2.2']), slice('none-1', ['10.244.9.9'])] });
    const follower = writerOf();
    await follower.write(added(PLANS));
    const updated = changed.map((to, i) => ({ from: PLANS[i] ?? to, to }));
    await follower.write({ added: [], updated, removed: [] });
    await follower.write({ added: [], updated: [], removed: of('local', changed) });
    const fresh = writerOf();
    await fresh.write(added(changed.filter(plan => plan.service !== 'default/local')));
    assert.deepEqual(await follower.writer.listing([]), await fresh.writer.listing([]));
    assert.equal(blockOf(await fresh.writer.listing([]), 'map cluster-endpoints').total, 4);
  });

  test('LISTING-1 packets meet the blocks in this order, and each heading stands once', async () => {
    const { writer, write } = writerOf();
    await write(added(PLANS));
    const listing = await writer.listing(of('web'));
    assert.deepEqual(groupsOf(listing), [
      'prerouting',
      'input',
      'forward',
      'output',
      'postrouting',
      'reached through maps',
    ]);
    const order = [
      'chain nat-prerouting',
      'chain services',
      'map service-numbers',
      'map targets',
      'chain pick-cluster-3',
    ];
    const places = order.map(id => listing.blocks.findIndex(block => block.id === id));
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    );
  });

  test('LISTING-6 every block says what it is for, and which service port it belongs to', async () => {
    const { writer, write } = writerOf();
    await write(added(PLANS));
    const { blocks } = await writer.listing(of('sticky'));
    for (const { id, about } of blocks) assert.match(about ?? '', /^[A-Z].*\.$/, id);
    const own = blocks.filter(({ servicePort }) => servicePort === 'default/sticky');
    assert.deepEqual(own.map(({ kind }) => kind).sort(), ['chain', 'chain', 'chain', 'set', 'set']);
    assert.equal(blocks.find(({ name }) => name === 'services')?.command, 'nft list chain ip kube-proxy services');
  });

  test('LISTING-5 with 5,000 Services the listing is as long as with one', async () => {
    const { writer, write } = writerOf();
    const names = Array.from({ length: 5000 }, (_, i) => i);
    const many = plansOf({
      services: names.map(i => service(`s${i}`, { clusterIP: `10.97.${i >> 8}.${i & 255}` })),
      slices: names.map(i => slice(`s${i}-1`, ['10.244.2.2', '10.244.2.3'])),
    });
    await write(added(many));
    const listing = await writer.listing(of('s17', many));
    const lines = linesOf(listing).length;
    assert.ok(lines < 200, `${lines} lines`);
    assert.equal(blockOf(listing, 'map cluster-endpoints').total, 10_000);
    assert.equal(blockOf(listing, 'map cluster-endpoints').lines.length, 2);
  });
});
