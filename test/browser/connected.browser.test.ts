import assert from 'node:assert/strict';
import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Ip } from '../../src/net/index.ts';
import type { Program } from '../control-plane/program.ts';
import { testControlGroup } from '../support/bpf-lab.ts';
import { startConnectedClient } from '../support/connected-client.ts';
import { TestNetwork } from '../support/test-socket.ts';
import { violations } from './accessibility.ts';
import { ServedPage } from './served-page.ts';
import { withTab } from './tab.ts';
import { untilShown } from './wait.ts';

const SERVICE = { ip: '10.96.0.10' as Ip, port: 80 };
/** The endpoints of the Service in `examples/`. */
const ENDPOINTS = ['10.244.1.10', '10.244.2.10'] as Ip[];

describe('who is connected, in a browser', () => {
  let group: string;
  let pod: TestNetwork;
  let served: ServedPage;
  const clients: Program[] = [];

  before(async () => {
    group = join(testControlGroup(), 'connected-in-a-browser');
    mkdirSync(group);
    pod = new TestNetwork(ENDPOINTS, 8080);
    served = await ServedPage.start({ flags: ['--proxy-mode', 'ebpf', '--cgroup-root', group] });
  });
  after(async () => {
    for (const client of clients) await client.stop();
    await served?.close();
    pod?.close();
    rmdirSync(group);
  });

  test('SOCKETS-15 a tab of the Service shows who is connected, and follows what opens and closes', async () => {
    await withTab({ url: served.url, hash: '#/service/default/web' }, async page => {
      const panel = page.getByRole('tabpanel');
      await page.getByRole('tab', { name: 'Connected now' }).click();
      await untilShown(panel, 'No socket of this node is connected to this Service.');
      clients.push(await startConnectedClient(pod.namespace, group, SERVICE));
      await untilShown(panel, '1 socket of this node is connected to 1 endpoint.');
      await untilShown(panel, /10\.244\.[12]\.10/);
      assert.deepEqual(await violations(page), []);
      assert.match(page.url(), /tab=connected/);
      await clients.pop()?.stop();
      await untilShown(panel, 'No socket of this node is connected to this Service.');
    });
  });
});
