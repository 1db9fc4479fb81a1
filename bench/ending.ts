// Measures the end of an endpoint with `pointsman.dev/endpoint-end: reset`: two endpoints share open TCP connections of a
// pod, and one of them leaves. Counts what ended, and from the event to the last reset. Needs root.
//   --connections 1000,10000   how many connections are open
//   --mode nftables            or iptables
import assert from 'node:assert/strict';
import { parseArgs } from 'node:util';
import type { Ip } from '../src/net/index.ts';
import { EndingLab } from '../test/support/ending-lab.ts';
import { service } from '../test/support/objects.ts';
import { waitFor } from '../test/support/wait-for.ts';
import { COMMON_FLAGS } from './support/flags.ts';
import { watchLoop } from './support/loop-watch.ts';
import { report, reportMachine, rounded } from './support/report.ts';

const { values: flags } = parseArgs({
  options: {
    ...COMMON_FLAGS,
    connections: { type: 'string', default: '1000,10000' },
    mode: { type: 'string', default: 'nftables' },
  },
});

const WEB = '10.96.0.1' as Ip;
const ENDPOINTS = ['10.244.1.10', '10.244.1.11'] as [Ip, Ip];

async function main(): Promise<void> {
  reportMachine();
  const rows = [];
  for (const text of flags.connections.split(',')) rows.push(await measure(Number(text)));
  report(rows, `${flags.mode} mode`);
}

async function measure(connections: number) {
  const lab = new EndingLab(flags.mode === 'iptables' ? 'iptables' : 'nftables');
  try {
    const client = lab.addClient('10.244.1.20' as Ip);
    for (const ip of ENDPOINTS) lab.addEndpoint(ip);
    const annotations = { 'pointsman.dev/endpoint-end': 'reset' };
    await lab.setService(service('web', { clusterIP: WEB, annotations }), ENDPOINTS);
    const web = await lab.connect(client, WEB, 80, connections);
    const loop = watchLoop();
    const start = performance.now();
    await lab.setEndpoints('web', ENDPOINTS.slice(1));
    await waitFor('the connections have ended', () => lab.reports.length > 0);
    const milliseconds = performance.now() - start;
    const { longestCpuMs } = loop.stop();
    const [count] = lab.reports[0]?.ended.values() ?? [];
    assert.equal(web.open.length, connections - (count?.connections ?? 0), 'all of these ended, and no others');
    return {
      connections,
      ended: count?.connections ?? 0,
      'ms until all ended': rounded(milliseconds),
      'longest hold of the loop, ms': rounded(longestCpuMs),
    };
  } finally {
    await lab.close();
  }
}

await main();
