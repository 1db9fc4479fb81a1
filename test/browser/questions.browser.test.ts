import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ServedPage } from './served-page.ts';
import { withTab } from './tab.ts';
import { untilEqual, untilLoaded, untilShown } from './wait.ts';

describe('what an operator looks at and asks', () => {
  let served: ServedPage;
  before(async () => {
    served = await ServedPage.start({ flags: ['--page-allow=probe,trace', '--proxy-mode=nftables'] });
  });
  after(() => served?.close());

  test('PAGE-60 PAGE-61 PAGE-63 PAGE-66 the picture of a Service has callers, addresses, endpoints, odds and refusals', async () => {
    await withTab({ url: served.url, hash: '#/service/default/api' }, async page => {
      await untilLoaded(page);
      for (const text of ['Pod', 'Outside', '10.96.0.30:443/TCP', '203.0.113.30:443/TCP', '10.244.2.11:8443', '50 %']) {
        await untilShown(page.locator('main'), text);
      }
      await untilShown(page.locator('main'), /source ranges/);
      await page.getByRole('button', { name: /^Outside/ }).click();
      await untilEqual('the chosen caller is in the address', true, () =>
        page.evaluate('/from=outside/.test(location.hash)'),
      );
    });
  });

  test('PAGE-80 PAGE-81 a question is answered with its steps, and its address can be shared', async () => {
    await withTab({ url: served.url, hash: '#/ask' }, async page => {
      await page.getByLabel('To', { exact: true }).fill('default/idle');
      await page.getByRole('button', { name: 'Explain' }).click();
      await untilShown(page.locator('main'), /refused/i);
      const shared = page.url();
      assert.match(shared, /to=default%2Fidle/);
      await page.goto('about:blank');
      await page.goto(shared);
      await untilShown(page.locator('main'), /refused/i);
    });
  });

  test('PAGE-85 PAGE-86 a trace draws the way of a real packet through the chains of the proxy', async () => {
    await withTab({ url: served.url, hash: '#/ask?to=default/web&from=node' }, async page => {
      await untilLoaded(page);
      await page.getByRole('button', { name: 'Trace', exact: true }).click();
      await untilShown(page.locator('main'), /nat-output/);
      await untilShown(page.locator('main'), /10\.244\.[12]\.10/);
    });
  });

  test('PAGE-90 PAGE-92 the timeline shows the start and the first syncs, and hides a kind', async () => {
    await withTab({ url: served.url, hash: '#/timeline' }, async page => {
      await untilShown(page.locator('main'), 'node node-a, mode nftables, IPv4 and IPv6');
      const firstSync = page.locator('main').getByText(/first sync: 7 service ports/);
      await firstSync.first().waitFor();
      await page.getByRole('button', { name: 'Syncs' }).click();
      await untilEqual('no sync is shown', 0, () => firstSync.count());
      assert.match(page.url(), /kinds=/);
    });
  });

  test('LISTING-8 the rules of one Service are linked from chain to map to element', async () => {
    await withTab({ url: served.url, hash: '#/rules?service=default/web' }, async page => {
      await untilLoaded(page);
      await untilShown(page.locator('main'), /10\.96\.0\.10/);
      await page.locator('main .rules-lines a').first().click();
      await untilEqual('the link leads to a block', true, () => page.evaluate('/block=/.test(location.hash)'));
    });
  });
});
