import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertAccessible } from './accessibility.ts';
import { ServedPage } from './served-page.ts';
import { withTab } from './tab.ts';

describe('the page in a browser', () => {
  let served: ServedPage;
  before(async () => {
    served = await ServedPage.start();
  });
  after(() => served?.close());

  test('PAGE-100 the page loads', async () => {
    await withTab({ url: served.url }, async page => {
      assert.equal(await page.title(), 'Pointsman');
      await assertAccessible(page);
    });
  });
});
