import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ServedPage } from './served-page.ts';
import { withTab } from './tab.ts';
import { untilEqual, untilLoaded, untilShown } from './wait.ts';

describe('a Service in a browser', () => {
  let served: ServedPage;
  before(async () => {
    served = await ServedPage.start();
  });
  after(() => served?.close());

  test('PAGE-60 PAGE-61 PAGE-63 PAGE-66 the picture has callers, addresses, endpoints, odds and refusals', async () => {
    await withTab({ url: served.url, hash: '#/service/default/api' }, async page => {
      await untilLoaded(page);
      for (const text of ['Pod', 'Outside', '10.96.0.30:443/TCP', '203.0.113.30:443/TCP', '10.244.2.11:8443', '50 %']) {
        await untilShown(page.locator('main'), text);
      }
      await untilShown(page.locator('main'), /source ranges/);
      const outside = page.getByRole('button', { name: /^Outside/ });
      await outside.click();
      await untilEqual('it is chosen', 'true', () => outside.getAttribute('aria-pressed'));
      assert.match(page.url(), /from=outside/);
      await page.reload();
      await untilEqual('it is still chosen', 'true', () => outside.getAttribute('aria-pressed'));
      await page.getByRole('button', { name: 'Show all ways' }).press('Enter');
      await untilEqual('nothing is chosen', 'false', () => outside.getAttribute('aria-pressed'));
      await page.locator('[data-caller="outside"]:focus').waitFor();
    });
  });

  test('PAGE-63 PAGE-66 a pod that source ranges exclude gets no answer, and the question about it says the same', async () => {
    await withTab({ url: served.url, hash: '#/service/default/api?from=pod&to=203.0.113.30:443' }, async page => {
      await untilShown(page.locator('.chosen'), /a pod of this node to 203\.0\.113\.30:443 gets no answer/);
      await page.getByRole('link', { name: 'Ask why' }).click();
      await page.getByRole('heading', { name: 'Broken' }).waitFor();
      await untilShown(page.locator('main'), /does not contain pods \(10\.244\.1\.0\/24\)/);
    });
  });

  test('PAGE-66 a way to a node port is asked about at its address', async () => {
    await withTab({ url: served.url, hash: '#/service/default/api?from=outside&to=30443' }, async page => {
      const link = page.getByRole('link', { name: 'Ask why' });
      assert.match((await link.getAttribute('href')) ?? '', /^#\/ask\?from=outside&to=\d+\.\d+\.\d+\.\d+%3A30443$/);
    });
  });

  test('PAGE-68 PAGE-69 PAGE-76 each tab has an address, the reasons of endpoints and the kernel beside the plan', async () => {
    await withTab({ url: served.url, hash: '#/service/default/web' }, async page => {
      const panel = page.getByRole('tabpanel');
      await untilShown(panel, /not ready/);
      await page.getByRole('tab', { name: 'Kernel' }).click();
      await untilShown(panel, 'The kernel has all');
      assert.match(page.url(), /tab=kernel/);
      await page.goto(`${served.url}#/service/default/web?tab=history`);
      await untilEqual('the tab of the address is shown', 'History', () =>
        page.getByRole('tab', { selected: true }).innerText(),
      );
    });
  });
});
