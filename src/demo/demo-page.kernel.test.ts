import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import type { ObservedConnection } from '../inspect/index.ts';
import { parseIp } from '../net/index.ts';
import { Demo, DemoPage, Prober } from './index.ts';

const TIMEOUT_MS = 20_000;
const LOOPBACK = parseIp('127.0.0.1');

async function json(url: string) {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return text
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
}

/** The first connections that the live stream has. */
async function observedAt(url: string, signal: AbortSignal): Promise<readonly ObservedConnection[]> {
  const response = await fetch(`${url}v1/live`, { signal });
  assert.ok(response.body);
  let text = '';
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    text += part;
    const [, data] = /^event: observed\ndata: (.*)\n\n/m.exec(text) ?? [];
    if (data !== undefined) return JSON.parse(data).connections;
  }
  throw new Error('the stream ended');
}

test('DEMO-11 DEMO-12 the page shows the proxy of the demo, its kernel, and the connections as they are made', async () => {
  // Another program has the port.
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address();
  assert.ok(LOOPBACK !== undefined && address !== null && typeof address === 'object');
  const demo = await Demo.start({ manifests: 'examples/web.yaml', onChange: () => undefined });
  let page: DemoPage | undefined;
  const stop = new AbortController();
  let ended: Promise<void> | undefined;
  try {
    const at = { ip: LOOPBACK, port: address.port, files: undefined };
    const fixed = DemoPage.open(demo, { address: { ...at, mayUseOtherPort: false }, version: '9' });
    await assert.rejects(fixed, /address already in use/);
    page = await DemoPage.open(demo, { address: { ...at, mayUseOtherPort: true }, version: '9' });
    const { url } = page;
    assert.notEqual(new URL(url).port, String(address.port));
    const prober = new Prober(
      demo,
      () => undefined,
      connections => page?.observed(connections),
    );
    ended = prober.run(stop.signal);
    const observed = await observedAt(url, AbortSignal.any([stop.signal, AbortSignal.timeout(TIMEOUT_MS)]));
    assert.ok(observed.length > 0 && observed.every(({ service }) => service === 'default/web'));
    assert.ok(observed.every(({ isAsPlanned }) => isAsPlanned));
    assert.deepEqual((await json(`${url}v1/page`))[0].allows, ['probe', 'trace']);
    const [status] = await json(`${url}v1/status`);
    assert.deepEqual([status.node, status.mode, status.ready, status.version], ['node-a', 'nftables', true, '9']);
    const [, row] = await json(`${url}v1/services`);
    assert.deepEqual([row.name, row.state], ['web', 'programmed']);
    const [explanation] = await json(`${url}v1/explain?to=default/web&from=10.244.1.10&probe=true`);
    const text = JSON.stringify(explanation);
    assert.match(text, /"connected"/, 'the endpoints of the cluster answer a probe');
    assert.match(text, /"topic":"kernel","verdict":"good"/, 'the kernel of the node has the rules');
    assert.ok((await json(`${url}v1/history`)).some(({ kind }) => kind === 'listed'));
  } finally {
    stop.abort();
    await ended;
    page?.close();
    await demo.close();
    taken.close();
  }
});
