import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plansOf } from '../../../test/support/iptables-plans.ts';
import { blockOf, lineText, wrongLinks } from '../../../test/support/listed-lines.ts';
import { service, slice } from '../../../test/support/objects.ts';
import type { Ip } from '../../net/index.ts';
import { planId } from '../../plan/index.ts';
import { listUserspace } from './listing.ts';
import { JUMPS } from './portals/jumps.ts';
import type { RenderOptions } from './portals/render-options.ts';
import { fullText } from './portals/restore-text.ts';
import { render } from './render.ts';

const OPTIONS: RenderOptions = {
  localDetector: undefined,
  nodePortRanges: undefined,
  listenIP: undefined,
  hostIP: '192.168.0.2' as Ip,
};
const [WEB, OTHER] = plansOf({
  services: [
    service('web', { type: 'NodePort', clusterIP: '10.96.0.10', ports: [{ port: 80, nodePort: 30080 }] }),
    service('other', { clusterIP: '10.96.0.11' }),
  ],
  slices: [slice('web-1', ['10.244.2.2']), slice('other-1', ['10.244.2.9'])],
});
const PROXY = { openPorts: { Cluster: 40_001 }, openCount: 1, pinnedClients: () => [] };

function list() {
  assert.ok(WEB && OTHER);
  const committed = new Map([WEB, OTHER].map(plan => [planId(plan), render(plan, PROXY.openPorts, OPTIONS)]));
  const ports = [{ plan: WEB, options: OPTIONS, listenIP: '0.0.0.0' as Ip, proxy: PROXY }];
  return listUserspace({ family: 'IPv4', ports, committed, proxies: [PROXY, PROXY] });
}

describe('the listing of userspace mode', () => {
  test('LISTING-2 the listing has exactly the rules that the mode writes for the Service, and the jumps', async () => {
    const listing = await list();
    assert.ok(WEB);
    const text = fullText(render(WEB, PROXY.openPorts, OPTIONS), JUMPS).replaceAll('\n-I ', '\n-A ');
    const listed = listing.blocks.filter(({ kind }) => kind === 'chain').flatMap(({ lines }) => lines.map(lineText));
    assert.deepEqual(listed.sort(), text.match(/^-A .*/gm)?.sort());
    assert.deepEqual(wrongLinks(listing), []);
  });

  test('LISTING-3 LISTING-4 rules and listeners of other Services are counted; a rule leads to its listener', async () => {
    const listing = await list();
    const portals = blockOf(listing, 'chain nat KUBE-PORTALS-CONTAINER');
    assert.deepEqual([portals.lines.length, portals.total], [1, 2]);
    assert.deepEqual(portals.lines[0]?.parts.at(-1), { text: '40001', block: 'listeners' });
    const { lines, total } = blockOf(listing, 'listeners');
    assert.deepEqual([lines.map(lineText), total], [['TCP 0.0.0.0:40001, this process, for policy Cluster'], 2]);
    for (const { id, about } of listing.blocks) assert.match(about ?? '', /^[A-Z].*\.$/, id);
  });
});
