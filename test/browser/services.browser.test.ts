import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ServedPage } from './served-page.ts';
import { serviceRow, shownServices } from './service-list.ts';
import { withTab } from './tab.ts';
import { untilEqual, untilLoaded } from './wait.ts';

const ALL = ['default/api', 'default/cart', 'default/idle', 'default/shop', 'default/web', 'kube-system/dns'];

const late = (ready: boolean) => `
apiVersion: v1
kind: Service
metadata: { name: late, namespace: default }
spec: { clusterIP: 10.96.0.99, ports: [{ name: http, port: 80 }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: late-1, namespace: default, labels: { kubernetes.io/service-name: late } }
addressType: IPv4
ports: [{ name: http, port: 8080, protocol: TCP }]
endpoints: [{ addresses: [10.244.1.99], nodeName: node-a, conditions: { ready: ${ready} } }]
`;

describe('the list of Services in a browser', () => {
  const manifests = mkdtempSync(join(tmpdir(), 'manifests-'));
  let served: ServedPage;
  before(async () => {
    cpSync('examples', manifests, { recursive: true });
    served = await ServedPage.start({ manifests });
  });
  after(async () => {
    await served?.close();
    rmSync(manifests, { recursive: true });
  });

  test('PAGE-100 the search finds Services by name, address, port and endpoint, and is in the address', async () => {
    await withTab({ url: served.url }, async page => {
      await untilEqual('all Services are shown', ALL, () => shownServices(page));
      const search = page.getByRole('searchbox');
      for (const [text, found] of [
        ['cart', ['default/cart']],
        ['10.96.0.10', ['default/web']],
        ['30443', ['default/api']],
        ['10.244.2.11', ['default/api', 'default/web']],
        ['kube-', ['kube-system/dns']],
      ] as const) {
        await search.fill(text);
        await untilEqual(`the Services that ${text} finds`, found, () => shownServices(page));
      }
      await untilEqual('the address has the search', '#/services?q=kube-', () => page.evaluate('location.hash'));
      await page.reload();
      await untilEqual('the Services after a reload', ['kube-system/dns'], () => shownServices(page));
      await search.fill('no-such-service');
      await page.getByText('No Service matches').waitFor();
    });
  });

  test('PAGE-101 the list follows a manifest that is added, edited and deleted, without a reload', async () => {
    await withTab({ url: served.url }, async page => {
      await untilEqual('all Services are shown', ALL, () => shownServices(page));
      await page.evaluate('window.isSamePage = true');
      const file = join(manifests, 'late.yaml');
      writeFileSync(file, late(true));
      const endpoints = () => serviceRow(page, 'default/late').locator('.cell-endpoints').innerText();
      await untilEqual('the new Service has an endpoint', '1/1', endpoints);
      writeFileSync(file, late(false));
      await untilEqual('the endpoint is not ready', '0/1', endpoints);
      unlinkSync(file);
      await untilEqual('the Service is gone', ALL, () => shownServices(page));
      assert.equal(await page.evaluate('window.isSamePage'), true);
    });
  });

  test('PAGE-102 an operator comes from the search to the kernel entries of a Service with the keyboard alone', async () => {
    await withTab({ url: served.url }, async page => {
      await untilEqual('all Services are shown', ALL, () => shownServices(page));
      const keys = page.keyboard;
      await page.evaluate('document.activeElement.blur()');
      await keys.press('/');
      // At once: no key is lost.
      await keys.type('web');
      assert.equal(await page.getByRole('searchbox').inputValue(), 'web');
      await untilEqual('the search has found it', ['default/web'], () => shownServices(page));
      await keys.press('ArrowDown');
      await keys.press('Enter');
      await page.getByRole('heading', { name: 'web' }).first().waitFor();
      await untilLoaded(page);
      await tabTo('tab', () => page.evaluate('document.activeElement.getAttribute("role")'));
      const selected = () => page.getByRole('tab', { selected: true }).innerText();
      for (let presses = 0; !/kernel/i.test(await selected()); presses++) {
        assert.ok(presses < 10, 'there is no tab of the kernel');
        await keys.press('ArrowRight');
      }
      await untilLoaded(page);
      await page.getByRole('tabpanel').getByText('The kernel has all').waitFor();

      /** Presses the Tab key until the focus is where it should be. */
      async function tabTo(wanted: string, read: () => Promise<string | null>): Promise<void> {
        for (let presses = 0; (await read()) !== wanted; presses++) {
          assert.ok(presses < 60, `the Tab key does not lead to ${wanted}`);
          await keys.press('Tab');
        }
      }
    });
  });
});
