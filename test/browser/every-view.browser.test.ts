import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { violations } from './accessibility.ts';
import { ServedPage } from './served-page.ts';
import { withTab } from './tab.ts';
import { REFUSED_VIEWS, VIEWS } from './views.ts';
import { untilLoaded } from './wait.ts';

// The narrowest page that WCAG asks for.
const PHONE = { width: 320, height: 640, isTouch: true };

describe('every view in a browser', () => {
  let served: ServedPage;
  before(async () => {
    served = await ServedPage.start();
  });
  after(() => served?.close());

  /** Visits all views and all their tabs. Fails with everything that is wrong, and where that is. */
  async function visit(options: object, faults: (page: Page) => Promise<readonly string[]>): Promise<void> {
    const found: Record<string, string[]> = {};
    const look = async (page: Page, where: string) => {
      await untilLoaded(page);
      for (const fault of await faults(page)) found[fault] = [...(found[fault] ?? []), where];
    };
    await withTab({ url: served.url, ...options }, async page => {
      for (const hash of VIEWS) {
        await page.goto(`${served.url}${hash}`);
        await look(page, hash);
        const tabs = page.getByRole('tab');
        for (let i = 1; i < (await tabs.count()); i++) {
          await tabs.nth(i).click();
          await look(page, `${hash}, tab ${await tabs.nth(i).innerText()}`);
        }
      }
    });
    await withTab({ url: served.url, mayLoseProxy: true, ...options }, async page => {
      for (const hash of REFUSED_VIEWS) {
        await page.goto(`${served.url}${hash}`);
        await look(page, hash);
      }
    });
    assert.deepEqual(found, {});
  }

  for (const isDark of [false, true]) {
    test(`PAGE-105 axe-core finds nothing in any view, ${isDark ? 'dark' : 'light'}`, () =>
      visit({ isDark }, violations));
  }

  test('PAGE-105 axe-core finds nothing in any view on a phone, and no view is wider than the screen', () =>
    visit(PHONE, async page => {
      const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
      const tooWide = width > PHONE.width ? [`the page is ${width} pixels wide`] : [];
      return [...tooWide, ...(await violations(page))];
    }));

  test('PAGE-105 axe-core finds nothing in the dialog of keys, which Esc closes', async () => {
    await withTab({ url: served.url }, async page => {
      await untilLoaded(page);
      await page.getByRole('button', { name: 'Keys' }).click();
      await page.getByRole('dialog').waitFor();
      assert.deepEqual(await violations(page), []);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
    });
  });

  test('PAGE-105 axe-core finds nothing in the reasons of the lights, and in the commands to copy', async () => {
    await withTab({ url: served.url, hash: '#/service/default/web' }, async page => {
      await untilLoaded(page);
      await page.getByText('Copy as', { exact: true }).click();
      await page.getByText('kubectl').first().waitFor();
      assert.deepEqual(await violations(page), []);
      for (const light of [/^API watches/, /^Syncs/, /^Drift/, /^Problems/]) {
        await page.getByRole('button', { name: light }).click();
        assert.deepEqual(await violations(page), [], String(light));
      }
    });
  });

  test('PAGE-106 the page is light or dark as the system, until the operator chooses', async () => {
    const background = (page: Page) => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const seen: string[] = [];
    for (const isDark of [false, true]) {
      await withTab({ url: served.url, isDark }, async page => {
        await untilLoaded(page);
        seen.push(await background(page));
        const button = page.getByRole('button', { name: /^Colours/ });
        await button.click();
        if (!isDark) await button.click();
        seen.push(await background(page));
      });
    }
    const [light, chosenDark, dark, chosenLight] = seen;
    assert.notEqual(light, dark);
    assert.deepEqual([chosenDark, chosenLight], [dark, light]);
  });
});
