import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lineText, wrongLinks } from '../../../test/support/listed-lines.ts';
import { withNamespace } from '../../../test/support/namespaces.ts';
import { NftablesHarness, nft } from '../../../test/support/nftables-mode.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { parseNodePortAddresses } from '../../model/index.ts';
import type { Ip } from '../../net/index.ts';

const WEB = service('web', {
  type: 'LoadBalancer',
  clusterIP: '10.96.0.10',
  externalIPs: ['198.51.100.7'],
  ingress: [{ ip: '203.0.113.1' }],
  loadBalancerSourceRanges: ['198.51.100.0/24'],
  externalTrafficPolicy: 'Local',
  ports: [
    { name: 'http', port: 80, nodePort: 30_080 },
    { name: 'none', port: 81, nodePort: 30_081 },
  ],
});
const STICKY = service('web', { clusterIP: '10.96.0.10', sessionAffinity: 'ClientIP', ports: [{ name: 'http' }] });
const PORTS = [{ name: 'http', protocol: 'TCP', port: 8080 }] as const;
const PODS = slice('web-1', [{ ip: '10.244.1.2', nodeName: 'node-a' }, '10.244.2.2'], { ports: PORTS });

/** nft breaks long lists of elements into lines. */
const inOneLine = (text: string) => text.replaceAll(/\s+/g, ' ');

for (const [name, object] of [
  ['with addresses of every kind', WEB],
  ['with session affinity', STICKY],
] as const) {
  test(`LISTING-2 nft lists every line of a Service ${name}, and no chain, map or set that is not listed`, () =>
    withNamespace(async namespace => {
      const settings = {
        nodePortAddresses: parseNodePortAddresses('IPv4', ['192.168.0.0/24']),
        nodePortIPs: ['192.168.0.2' as Ip],
      };
      const harness = new NftablesHarness(namespace, 'IPv4', settings);
      try {
        harness.set(object, PODS);
        await harness.sync();
        const listing = await harness.mode.listing('IPv4', harness.plans());
        assert.deepEqual(wrongLinks(listing), []);
        for (const { id, command = '', lines, total } of listing.blocks) {
          assert.equal(lines.length, total, id);
          const listed = inOneLine(nft(namespace, ...command.split(' ').slice(1)));
          for (const line of lines)
            assert.ok(listed.includes(lineText(line)), `${id} lacks ${lineText(line)}: ${listed}`);
        }
        const objects = nft(namespace, 'list', 'ruleset').matchAll(/^\t(chain|map|set) (\S+) \{/gm);
        const ids = Array.from(objects, ([, kind, object]) => `${kind} ${object}`);
        assert.deepEqual(ids.sort(), listing.blocks.map(({ id }) => id).sort());
      } finally {
        await harness.close();
      }
    }));
}
