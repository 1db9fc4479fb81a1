import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { violations } from './accessibility.ts';
import { ServedPage } from './served-page.ts';
import { withTab } from './tab.ts';
import { untilShown } from './wait.ts';

describe('traffic in a browser', () => {
  let served: ServedPage;

  before(async () => {
    served = await ServedPage.start({ flags: ['--count-connections'] });
  });
  after(async () => {
    await served?.close();
  });

  test('TRAFFIC-14 a tab of the Service shows the figures of its ports', async () => {
    await withTab({ url: served.url, hash: '#/service/default/web' }, async page => {
      const panel = page.getByRole('tabpanel');
      await page.getByRole('tab', { name: 'Traffic' }).click();
      await untilShown(panel, 'New connections');
      await untilShown(panel, 'Rejected');
      assert.deepEqual(await violations(page), []);
      assert.match(page.url(), /tab=traffic/);
    });
  });
});
