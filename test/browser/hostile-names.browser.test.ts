import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { violations } from './accessibility.ts';
import { RenamingServer } from './renaming-server.ts';
import { ServedPage } from './served-page.ts';
import { shownServices } from './service-list.ts';
import { withTab } from './tab.ts';
import { untilEqual, untilLoaded } from './wait.ts';

/** What the proxy knows, and what the browser gets instead. */
const NAMES = {
  'hostile-script': '<script>document.title="owned"</script>',
  'hostile-image': '"><img src=x onerror=document.title="owned">',
  'hostile-bidi': 'a\u202Egnp.exe\u2066b',
  'hostile-long': `${'long-'.repeat(50)}end`,
  'hostile-words': '{{constructor.constructor("document.title=1")()}}#{1+1}%s&amp;&lt;',
  'hostile-node': '</title><svg onload=document.title="owned">',
};
const ANNOTATION = `<style>*{display:none}</style>${'x'.repeat(5000)}`;

const objects = (name: string, i: number) => [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'hostile', annotations: { note: ANNOTATION }, labels: { app: name } },
    spec: { clusterIP: `10.96.0.${i + 10}`, selector: { app: name }, ports: [{ name: 'http', port: 80 }] },
  },
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `slice-${i}`, namespace: 'hostile', labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints: [{ addresses: [`10.244.1.${i + 10}`], nodeName: 'hostile-node', conditions: { ready: true } }],
  },
];

describe('hostile names', () => {
  const manifests = mkdtempSync(join(tmpdir(), 'manifests-'));
  let served: ServedPage;
  let renaming: RenamingServer;
  before(async () => {
    for (const [i, name] of [...Object.keys(NAMES), '<u>refused'].entries()) {
      // The proxy shows the last problem of each file, so the refused Service is alone in its file.
      const items = objects(name, i).slice(0, name in NAMES ? 2 : 1);
      const list = { apiVersion: 'v1', kind: 'List', items };
      writeFileSync(join(manifests, `${i}.json`), JSON.stringify(list));
    }
    served = await ServedPage.start({ manifests });
    renaming = await RenamingServer.open(served.url, NAMES);
  });
  after(async () => {
    renaming?.close();
    await served?.close();
    rmSync(manifests, { recursive: true });
  });

  /** Fails if a name became anything else than text, or made the page wider. */
  async function assertHarmless(page: Page): Promise<void> {
    assert.equal(await page.locator('main :is(img, script, u, style, [onload], [onerror])').count(), 0);
    assert.ok(!(await page.title()).startsWith('owned'));
    assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= 1200);
  }

  test('PAGE-108 a list of hostile names shows them as text', async () => {
    await withTab({ url: renaming.url }, async page => {
      await untilEqual('all Services are shown', 7, async () => (await shownServices(page)).length);
      const shown = await shownServices(page);
      for (const name of Object.values(NAMES)) assert.ok(shown.includes(`hostile/${name}`), name);
      assert.ok(shown.includes('hostile/<u>refused'));
      await assertHarmless(page);
      await page.getByRole('button', { name: /Problems/ }).click();
      await page.getByText('<u>refused').last().waitFor();
      await assertHarmless(page);
      assert.deepEqual(await violations(page), []);
    });
  });

  for (const [real, name] of Object.entries(NAMES)) {
    test(`PAGE-108 every view of a Service in place of ${real} shows its name as text`, async () => {
      const key = `${encodeURIComponent('hostile')}/${encodeURIComponent(name)}`;
      await withTab({ url: renaming.url }, async page => {
        for (const hash of [
          `#/service/${key}`,
          `#/service/${key}?tab=kernel`,
          `#/service/${key}?tab=history`,
          `#/ask?to=${encodeURIComponent(`hostile/${name}`)}`,
          `#/rules?service=${encodeURIComponent(`hostile/${name}`)}`,
          '#/timeline',
        ]) {
          await page.goto(`${renaming.url}${hash}`);
          await untilLoaded(page);
          await assertHarmless(page);
        }
      });
    });
  }
});
