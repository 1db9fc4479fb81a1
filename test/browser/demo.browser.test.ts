import { test } from 'node:test';
import { Demo, DemoPage, Prober } from '../../src/demo/index.ts';
import type { Ip } from '../../src/net/index.ts';
import { withTab } from './tab.ts';
import { untilShown } from './wait.ts';

test('DEMO-12 the picture of a Service shows the connections of the demo', async () => {
  const demo = await Demo.start({ manifests: 'examples/web.yaml', onChange: () => undefined });
  const stop = new AbortController();
  let page: DemoPage | undefined;
  let ended: Promise<void> | undefined;
  try {
    const address = { ip: '127.0.0.1' as Ip, port: 0, mayUseOtherPort: false, files: undefined };
    page = await DemoPage.open(demo, { address, version: '0.1.0' });
    const prober = new Prober(
      demo,
      () => undefined,
      connections => page?.observed(connections),
    );
    ended = prober.run(stop.signal);
    await withTab({ url: page.url, hash: '#/service/default/web' }, async tab => {
      await untilShown(tab, /\d+ real connections? since this page shows the Service, all as planned/);
    });
  } finally {
    stop.abort();
    await ended;
    page?.close();
    await demo.close();
  }
});
