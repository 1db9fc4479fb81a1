import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ServedPage } from './served-page.ts';
import { shownServices } from './service-list.ts';
import { withTab } from './tab.ts';
import { untilEqual } from './wait.ts';

const BANNER = '.connection-banner';

describe('a page whose proxy goes', () => {
  let served: ServedPage;
  before(async () => {
    served = await ServedPage.start();
  });
  after(() => served?.close());

  test('PAGE-103 the page says that the proxy is gone, and is live and right again after a restart', async () => {
    await withTab({ url: served.url, mayLoseProxy: true }, async page => {
      await untilEqual('all Services are shown', 6, async () => (await shownServices(page)).length);
      assert.equal(await page.locator(BANNER).count(), 0);
      const top = async () => (await page.locator('main').boundingBox())?.y;
      const before = await top();
      await served.stopProxy();
      await page.locator(BANNER).getByText('No connection to the proxy.').waitFor();
      // What the operator was reading stays, and stays where it was.
      assert.equal(await top(), before);
      assert.equal((await shownServices(page)).length, 6);
      await served.startProxy();
      await page.locator(BANNER).waitFor({ state: 'detached' });
      await untilEqual('all Services are shown', 6, async () => (await shownServices(page)).length);
    });
  });

  test('PAGE-103 a connection that breaks is opened again', async () => {
    await withTab({ url: served.url, mayLoseProxy: true }, async page => {
      await untilEqual('all Services are shown', 6, async () => (await shownServices(page)).length);
      const { connections } = served.relay;
      served.relay.cut();
      await untilEqual('there are new connections', true, async () => served.relay.connections > connections);
      await page.locator(BANNER).waitFor({ state: 'detached' });
    });
  });
});
