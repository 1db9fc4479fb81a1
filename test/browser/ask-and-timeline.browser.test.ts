import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { runIn } from '../support/run-in.ts';
import { waitFor } from '../support/wait-for.ts';
import { violations } from './accessibility.ts';
import { ServedPage } from './served-page.ts';
import { withTab } from './tab.ts';
import { untilEqual, untilLoaded, untilShown } from './wait.ts';

const hashOf = (page: Page) => page.evaluate<string>('location.hash');
const focusedOf = (page: Page) => page.evaluate<string>('document.activeElement.id');

describe('asking and the timeline in a browser', () => {
  let served: ServedPage;
  before(async () => {
    served = await ServedPage.start({ flags: ['--page-allow', 'probe,trace'] });
  });
  after(() => served?.close());

  test('PAGE-80 PAGE-81 a question that is typed is answered, is in the address, and is asked again from there', async () => {
    await withTab({ url: served.url, hash: '#/ask' }, async page => {
      await page.getByLabel('From').fill('node');
      await page.getByLabel('To', { exact: true }).fill('default/web:80');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Works' }).waitFor();
      assert.equal(await hashOf(page), '#/ask?from=node&to=default%2Fweb%3A80');
      assert.equal(await focusedOf(page), 'ask-to');
      await untilShown(page.locator('.ask-steps'), 'The kernel has all');
      await untilShown(page.locator('.ask-way'), '10.96.0.10:80/tcp');
      await page.reload();
      await page.getByRole('heading', { name: 'Works' }).waitFor();
      assert.equal(await page.getByLabel('To', { exact: true }).inputValue(), 'default/web:80');
    });
  });

  test('PAGE-80 a question that the proxy does not understand has its error at the field', async () => {
    // The browser reports an answer with the status 400.
    await withTab({ url: served.url, hash: '#/ask?to=a/b/c', mayLoseProxy: true }, async page => {
      await untilShown(page.getByRole('alert'), /neither a name nor an address/);
      assert.equal(await page.getByLabel('To', { exact: true }).getAttribute('aria-invalid'), 'true');
      assert.equal(await page.getByLabel('From').getAttribute('aria-invalid'), 'false');
      assert.deepEqual(await violations(page), []);
    });
  });

  test('PAGE-86 a trace draws the way of a packet, and ends with its button', async () => {
    const tables = () => runIn(served.namespace, 'nft', ['list', 'tables']);
    await withTab({ url: served.url, hash: '#/ask?from=node&to=default/web:80' }, async page => {
      await page.getByRole('button', { name: 'Trace', exact: true }).press('Enter');
      await untilShown(page.locator('.stations'), 'output');
      // The button does nothing now, but keeps the focus.
      assert.equal(await page.evaluate('document.activeElement.textContent'), 'Trace again');
      await untilShown(page.locator('.stations .change').first(), /destination/);
      await untilShown(page.locator('.stations .badge').first(), 'default/web');
      assert.match(tables(), /pointsman-trace-/);
      assert.deepEqual(await violations(page), []);
      await page.getByRole('button', { name: 'Stop' }).click();
      await untilShown(page, /The trace ended after/);
      await waitFor('the table of the trace is gone', () => !tables().includes('pointsman-trace-'));
    });
  });

  test('PAGE-91 PAGE-94 the timeline zooms with keys and by drawing, and a click on a mark selects its row', async () => {
    await withTab({ url: served.url, hash: '#/timeline?from=-2h' }, async page => {
      await untilLoaded(page);
      await untilShown(page.locator('table'), 'listed');
      await page.locator('.timeline-graphic').focus();
      await page.keyboard.press('+');
      await untilEqual('half of the time is shown', '#/timeline?from=-1h', () => hashOf(page));
      await page.keyboard.press('Home');
      await untilShown(page, /until now/);
      const box = await page.locator('.axis.lanes').boundingBox();
      assert.ok(box);
      await page.mouse.move(box.x + 100, box.y + 10);
      await page.mouse.down();
      await page.mouse.move(box.x + 300, box.y + 20, { steps: 3 });
      await page.mouse.up();
      await untilEqual('the address has both ends', true, async () => /[?&]until=20/.test(await hashOf(page)));
      await page.getByRole('button', { name: 'Follow' }).click();
      await untilEqual('the axis follows', false, async () => (await hashOf(page)).includes('until='));
      await page.getByRole('button', { name: 'All' }).click();
      await page.locator('.mark').first().click();
      await page.locator('tr[aria-current]').waitFor();
      assert.match(await hashOf(page), /[?&]entry=-?\d+/);
      assert.match(await hashOf(page), /[?&]until=20/);
    });
  });
});
