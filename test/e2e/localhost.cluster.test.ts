import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { listenTcp } from '../../src/kernel/sockets/index.ts';
import type { Ip } from '../../src/net/index.ts';
import { NODE_IP } from '../support/namespaces.ts';
import { eventsIn } from './cluster-events.ts';
import { service, slice } from './objects.ts';
import { Stage } from './stage.ts';

const POD = '10.244.1.10';
const LOCALHOST = '127.0.0.1' as Ip;

const nodePort = (name: string, port: number) =>
  service(name, undefined, { type: 'NodePort', ports: [{ name: 'http', port: 80, targetPort: 8080, nodePort: port }] });

describe('node ports at localhost', () => {
  let stage: Stage;

  before(async () => {
    stage = await Stage.open();
    await stage.node.addPod(POD);
    await stage.run(
      {
        featureGates: { KubeProxyNFTablesLocalhostNodePorts: true },
        nodePortAddresses: ['localhost', 'primary'],
      },
      { args: ['-v', '4'] },
    );
  });

  after(() => stage?.close());

  test('NFT-49 a node port answers at localhost and at the node while its Service exists', async () => {
    const { cluster, node, proxy } = stage;
    const web = nodePort('web', 30_080);
    await cluster.apply(web);
    await cluster.apply(slice('web-1', [POD]));
    await stage.until('serve localhost', async () => (await node.ask(LOCALHOST, 30_080)) === POD);
    assert.equal(await node.ask(NODE_IP, 30_080), POD);
    await proxy.until(/"Created localhost nodeport proxy".* protocol="TCP" port=30080 endpoints=1/);
    const [listeners] = await node.metric('kubeproxy_nftables_localhost_nodeport_listeners');
    assert.deepEqual([listeners?.labels, listeners?.value], [{ ip_family: 'IPv4' }, 1]);
    await cluster.delete(web);
    await proxy.until(/"Removing localhost nodeport proxy".* protocol="TCP" port=30080/);
    assert.equal(await node.ask(LOCALHOST, 30_080), 'refused');
  });

  test('NFT-53 a port that another program has is in the log, in /readyz and in an Event', async () => {
    const { cluster, node, proxy } = stage;
    const other = await listenTcp(node.namespace, LOCALHOST, 30_081, connection => connection.end('other'));
    try {
      await cluster.apply(nodePort('taken', 30_081));
      await cluster.apply(slice('taken-1', [POD]));
      await proxy.until(/"Service port set aside.*127\.0\.0\.1:30081.*servicePort="default\/taken:http"/);
      const { status, text } = await node.health('/readyz?verbose');
      assert.equal(status, 200);
      assert.match(text, /default\/taken:http \(IPv4\): .*127\.0\.0\.1:30081.*another program has it/);
      await stage.until('create an Event', async () => {
        const events = await eventsIn(cluster, 'default');
        return events.some(({ reason, note = '' }) => reason === 'SetAside' && note.includes('127.0.0.1:30081'));
      });
      assert.equal(await node.ask(NODE_IP, 30_081), POD);
    } finally {
      await new Promise(resolve => other.close(resolve));
    }
    await cluster.apply(nodePort('more', 30_082));
    await stage.until('serve localhost', async () => (await node.ask(LOCALHOST, 30_081)) === POD);
  });
});
