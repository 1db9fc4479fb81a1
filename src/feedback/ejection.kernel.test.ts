import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { test } from 'node:test';
import { loopbackOf, withRoutes } from '../../test/support/namespaces.ts';
import { nft } from '../../test/support/nftables-mode.ts';
import { ServingNode } from '../../test/support/serving-node.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { ANNOTATION_EJECT_AFTER } from '../api/index.ts';
import { connectTcp } from '../kernel/sockets/index.ts';
import type { Ip } from '../net/index.ts';
import type { EjectionReport } from './ejection-report.ts';

const SERVING = ['10.244.1.1', '10.244.1.2'];
const REFUSING = '10.244.1.3' as Ip;
const SILENT = '10.244.1.4' as Ip;
const ATTEMPTS = 100;
const VIP = '10.96.0.1' as Ip;

test('BALANCE-70 BALANCE-71 real endpoints that refuse or do not answer are left out, and others serve', async () => {
  const reports: EjectionReport[] = [];
  const ejected = (ip: Ip) => reports.find(({ endpoint }) => endpoint === `${ip}:8080`)?.leftOut;
  await ServingNode.use(
    async node => {
      await node.serve(...SERVING);
      withRoutes(node.namespace, route => {
        for (const ip of [REFUSING, SILENT]) route.addAddress(loopbackOf(route), { ip, prefix: 32 });
      });
      nft(node.namespace, 'add table inet silence');
      nft(node.namespace, 'add chain inet silence input { type filter hook input priority 0; }');
      nft(node.namespace, `add rule inet silence input ip daddr ${SILENT} drop`);
      await node.balance({ [ANNOTATION_EJECT_AFTER]: '2' }, [...SERVING, REFUSING, SILENT]);

      const end = new AbortController();
      setMaxListeners(ATTEMPTS, end.signal);
      // The random choice misses one of four endpoints in all attempts once in 10¹² runs.
      const attempts = Array.from({ length: ATTEMPTS }, async () => {
        try {
          const socket = await connectTcp(node.namespace, VIP, 80, { signal: end.signal });
          socket.destroy();
        } catch {
          // Refused, or without an answer until the test ends.
        }
      });
      await waitFor('both are left out', () => ejected(REFUSING) !== undefined && ejected(SILENT) !== undefined);
      end.abort();
      await Promise.all(attempts);
      assert.deepEqual(ejected(REFUSING), { cause: 'refused', failures: 2, seconds: 10 });
      assert.deepEqual(ejected(SILENT), { cause: 'timed out', failures: 2, seconds: 10 });
      await node.proxy.loop.settled();
      const [plan] = node.proxy.loop.state.family('IPv4').planner.plansOf('default/web');
      const used = plan?.endpoints.cluster.map(({ ip }) => ip);
      // The refusing endpoint was left out first, and may be used again by now if the machine is busy.
      assert.ok(used && !used.includes(SILENT) && SERVING.every(ip => used.includes(ip as Ip)), `${used}`);
    },
    { listeners: { ejectionChanged: report => reports.push(report) } },
  );
});
