import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { MANY, manyServiceIp, manyServiceKey, writeManyServices } from './many-services.ts';
import { ServedPage } from './served-page.ts';
import { shownServices } from './service-list.ts';
import { withTab } from './tab.ts';
import { untilEqual } from './wait.ts';

/** Beside a whole test suite. `npm run bench -- browser` measures. */
const MAX_HEAP_BYTES = 300e6;
const MAX_ROWS = 200;

test('PAGE-104 the list works with 44,125 Services: few rows exist, and the search finds one', async () => {
  const manifests = mkdtempSync(join(tmpdir(), 'manifests-'));
  let served: ServedPage | undefined;
  try {
    writeManyServices(manifests);
    served = await ServedPage.start({ manifests });
    await withTab({ url: served.url }, async page => {
      await page.getByText(`${MANY.toLocaleString('en')} Services`, { exact: true }).waitFor();
      const rows = async () => (await shownServices(page)).length;
      assert.ok((await rows()) < MAX_ROWS);
      await page.evaluate('document.querySelector(".service-box").scrollTo(0, 1e9)');
      const last = 'team-96/service-9990';
      await untilEqual('the last row is shown', last, async () => (await shownServices(page)).at(-1) ?? '');
      assert.ok((await rows()) < MAX_ROWS);
      for (const wanted of [4, 30_000, 44_124]) {
        await page.getByRole('searchbox').fill(manyServiceIp(wanted));
        const isFound = async () => (await shownServices(page)).includes(manyServiceKey(wanted));
        await untilEqual(`the search finds Service ${wanted}`, true, isFound);
      }
      await page.getByRole('searchbox').fill('');
      await page.getByRole('button', { name: 'Without endpoints' }).click();
      await page.getByText(`4,413 of ${MANY.toLocaleString('en')} Services`).waitFor();
      assert.ok((await page.evaluate<number>('performance.memory.usedJSHeapSize')) < MAX_HEAP_BYTES);
    });
  } finally {
    await served?.close();
    rmSync(manifests, { recursive: true });
  }
});
