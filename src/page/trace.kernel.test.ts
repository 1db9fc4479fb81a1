import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runIn } from '../../test/support/run-in.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { withTracedCluster } from '../../test/trace/traced-cluster.ts';
import { inspectionHandler } from '../inspect/index.ts';
import { type Ip, parseIp } from '../net/index.ts';
import { HttpServer } from '../observe/http/index.ts';
import type { TracedLine } from '../trace/index.ts';
import type { SentLine, TraceLine } from './index.ts';
import { traceRoute } from './index.ts';

test('PAGE-84 PAGE-85 the node sends a packet, the trace draws its way, and nothing stays when the reader leaves', () =>
  withTracedCluster('nftables', async ({ cluster }) => {
    const address = parseIp('10.96.0.10') as Ip;
    const ports = [{ name: '', protocol: 'TCP' as const, frontends: [{ address, port: 80 }] }];
    const route = traceRoute({
      findService: async () => ({ key: 'default/web', ports }),
      isServed: async to => to === '10.96.0.10:80/tcp',
      namespace: cluster.node,
    });
    const server = await HttpServer.open({
      ip: '127.0.0.1' as Ip,
      port: 0,
      handle: inspectionHandler({ routes: [route] }),
    });
    const tables = () => runIn(cluster.node, 'nft', ['list', 'tables']);
    const before = tables();
    const reader = new AbortController();
    try {
      const response = await fetch(`http://127.0.0.1:${server.port}/v1/trace?from=node&to=web:80&send=true`, {
        signal: reader.signal,
      });
      assert.match(tables(), /table inet pointsman-trace-/);
      const lines: TraceLine[] = [];
      for await (const line of jsonLines(response)) {
        lines.push(line);
        if (lines.some(({ kind }) => kind === 'sent') && lines.some(({ kind }) => kind === 'packet')) break;
      }
      const sent = lines.find((line): line is SentLine => line.kind === 'sent');
      assert.deepEqual([sent?.to, sent?.protocol, sent?.outcome], ['10.96.0.10:80', 'TCP', 'connected']);
      const syn = lines.find((line): line is TracedLine => line.kind === 'packet');
      assert.deepEqual([syn?.first.destination, syn?.inInterface], ['10.96.0.10:80', undefined]);
      assert.match(syn?.last.destination ?? '', /^10\.244\.\d\.\d:8080$/);
      assert.deepEqual(syn?.services, ['default/web']);
      assert.equal(syn?.outcome.kind, 'left');
      assert.match(syn?.summary ?? '', /tcp SYN: default\/web, DNAT to 10\.244\./);
      reader.abort();
      await waitFor('the kernel deletes the table of the trace', () => tables() === before);
    } finally {
      reader.abort();
      server.close();
    }
  }));

async function* jsonLines(response: Response): AsyncGenerator<TraceLine, void> {
  let rest = '';
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + part).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield JSON.parse(line) as TraceLine;
  }
}
