import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ip } from '../../src/net/index.ts';
import { type FleetAnswer, type FleetClient, fleetRoutes, PageServer, pageHandler } from '../../src/page/index.ts';
import { violations } from './accessibility.ts';
import { withTab } from './tab.ts';
import { untilEqual, untilShown } from './wait.ts';

const NODES = ['node-1', 'node-2', 'node-3', 'node-10', 'node-11'];
const HOSTILE = '<img src=x onerror=alert(1)>';

function status(node: string) {
  return {
    schema: 'pointsman.status/v1',
    version: '0.1.0',
    mode: node === 'node-10' ? 'iptables' : 'nftables',
    ready: true,
    pending: false,
    families: [{ family: 'IPv4', lastSync: new Date().toISOString(), servicePorts: { programmed: 7, setAside: 0 } }],
    failedSyncs: 0,
    drift: { repairs: 0 },
    watches: [],
    problems: 0,
  };
}

/** node-2 still has an endpoint that all others no longer have. */
function service(node: string) {
  const addresses = ['10.244.1.10:8080', node === 'node-2' ? '10.244.9.9:8080' : '10.244.2.10:8080'];
  const state = { ready: true, serving: true, terminating: false, clusterPolicy: { used: true, reason: 'ready' } };
  return {
    schema: 'pointsman.service/v1',
    row: { state: 'programmed', reasons: [], endpoints: [{ family: 'IPv4', used: 2, all: 2 }] },
    ports: [
      {
        name: 'http',
        protocol: 'TCP',
        family: 'IPv4',
        internalTrafficPolicy: 'Cluster',
        frontends: [{ kind: 'ClusterIP', address: '10.96.0.10', port: 80 }],
        endpoints: addresses.map(address => ({ address, ...state })),
      },
    ],
  };
}

function pod(node: string) {
  const args = ['--page-bind-address=0.0.0.0:10280', '--page-tls-cert-file=x'];
  return {
    metadata: { name: `proxy-${node}` },
    spec: { nodeName: node, containers: [{ args }] },
    status: { phase: 'Running' },
  };
}

const json = (code: number, body: object): FleetAnswer => ({ status: code, text: JSON.stringify(body) });

/** An API server whose node-3 does not answer, and whose node-11 has no proxy. */
const client: FleetClient = {
  async get({ path }) {
    if (path.startsWith('/api/v1/nodes')) return json(200, { items: NODES.map(name => ({ metadata: { name } })) });
    const [, node = ''] = /proxy-(node-\d+):/.exec(path) ?? [];
    if (node === '') return json(200, { items: NODES.slice(0, 4).map(pod) });
    if (node === 'node-3') return json(500, { kind: 'Status', message: HOSTILE });
    return json(200, path.includes('/v1/status') ? status(node) : service(node));
  },
};

async function servedFleet(): Promise<{ readonly url: string; close(): void }> {
  const routes = fleetRoutes({ client, namespace: 'kube-system', selector: 'a=b', token: async () => undefined });
  const info = { version: '0.1.0', allows: [], view: 'fleet', command: 'kube-proxy' } as const;
  const api = () => json(404, {}) as never;
  return new Promise((resolve, reject) => {
    const server = new PageServer({
      address: { ip: '127.0.0.1' as Ip, port: 0, mayUseOtherPort: false, files: undefined },
      hostNames: [],
      handle: pageHandler({ api, info, allowFlag: '', routes }),
      hardFail: true,
      onListen: url => resolve({ url, close: () => server.close() }),
      onError: reject,
      onFileError: reject,
    });
    void server.start();
  });
}

test('FLEET-10 the page shows the nodes, finds and filters them, and compares a Service on all nodes', async () => {
  const served = await servedFleet();
  try {
    await withTab({ url: served.url }, async page => {
      const nodes = () => page.locator('tbody td:first-child').allInnerTexts();
      const all = ['node-3', 'node-11', 'node-1', 'node-2', 'node-10'];
      await untilEqual('all nodes', all, nodes);
      await untilShown(page, /3 of 5 answer · nftables on 2, iptables on 1/);
      await untilShown(page, HOSTILE);
      assert.deepEqual(await page.locator('nav a').allInnerTexts(), ['Nodes']);
      await page.getByLabel('Search nodes').fill('node-1');
      await untilEqual('the nodes of the search', ['node-11', 'node-1', 'node-10'], nodes);
      await page.getByLabel('Search nodes').fill('');
      await page.getByLabel('Compare a Service on all nodes').fill('default/web');
      await page.keyboard.press('Enter');
      await untilShown(page, 'Of 5 nodes, 2 agree, 1 is behind, 2 give no answer.');
      await untilShown(page, 'IPv4 http/TCP: still has the endpoint 10.244.9.9:8080');
      assert.match(page.url(), /#\/fleet\?service=default%2Fweb$/);
      await page.getByLabel('Which nodes').selectOption('behind');
      await untilEqual('nodes that are behind', ['node-2'], nodes);
      assert.deepEqual(await violations(page), []);
    });
    await withTab({ url: served.url, hash: '#/fleet?service=default/web', width: 390, isDark: true }, async page => {
      await untilShown(page, 'Of 5 nodes, 2 agree, 1 is behind, 2 give no answer.');
      assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= 390);
      assert.deepEqual(await violations(page), []);
    });
  } finally {
    served.close();
  }
});
