import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ServedPage } from './served-page.ts';
import { withTab } from './tab.ts';

describe('the rules in a browser', () => {
  let served: ServedPage;
  before(async () => {
    served = await ServedPage.start();
  });
  after(() => served?.close());

  test('LISTING-8 from a hook to an endpoint by links, and back; the address names the block', async () => {
    await withTab({ url: served.url, hash: '#/rules' }, async page => {
      const block = (name: string) => page.getByRole('article', { name, exact: true });
      await page.getByLabel('Show the lines of a Service').fill('default/api');
      await page.getByLabel('Show the lines of a Service').press('Enter');
      await block('map targets').getByRole('link', { name: 'pick-cluster-2' }).waitFor();
      const steps = [
        ['chain nat-prerouting', 'services'],
        ['chain services', 'service-numbers'],
        ['map service-numbers', '0x10002000'],
        ['map targets', 'pick-cluster-2'],
        ['chain pick-cluster-2', 'cluster-endpoints'],
      ] as const;
      for (const [from, link] of steps)
        await block(from).getByRole('link', { name: link, exact: true }).first().click();
      const endpoints = block('map cluster-endpoints');
      await page.locator('article:focus[aria-label="map cluster-endpoints"]').waitFor();
      assert.match(await endpoints.innerText(), /10\.96\.0\.30 \. tcp \. 443 \. 0x00000000 : 10\.244\.1\.11 \. 8443/);
      assert.match(new URL(page.url()).hash, /service=default%2Fapi&block=map\+cluster-endpoints$/);
      await page.goBack();
      await page.locator('article:focus[aria-label="chain pick-cluster-2"]').waitFor();
    });
  });

  test('LISTING-8 a filter and a family leave what they should, and a wrong Service is refused with a reason', async () => {
    await withTab({ url: served.url, hash: '#/rules?service=default/api', mayLoseProxy: true }, async page => {
      await page.getByLabel('Filter blocks and lines').fill('masquerad');
      await page.getByRole('article', { name: 'chain masquerading' }).waitFor();
      assert.equal(await page.getByRole('article', { name: 'chain services', exact: true }).count(), 0);
      await page.getByLabel('IP family').selectOption('IPv6');
      await page.getByText('nft list chain ip6 kube-proxy masquerading').waitFor();
      await page.goto(`${served.url}#/rules?service=default/apo`);
      await page.getByText('did you mean default/api?').waitFor();
      await page.goto(`${served.url}#/rules?family=none`);
      await page.getByText('nftables mode, IPv4').waitFor();
    });
  });

  test('LISTING-8 a listing that failed comes when the proxy is back', async () => {
    await withTab({ url: served.url, hash: '#/rules', mayLoseProxy: true }, async page => {
      await page.getByText('nftables mode, IPv4').waitFor();
      await served.stopProxy();
      await page.getByLabel('IP family').selectOption('IPv6');
      await page.getByText('The rules cannot be listed.').waitFor();
      await served.startProxy();
      await page.getByText('nftables mode, IPv6').waitFor();
    });
  });

  test('LISTING-8 the family can be chosen while no listing comes', async () => {
    await withTab({ url: served.url, hash: '#/rules?family=IPv6', mayLoseProxy: true }, async page => {
      await page.getByText('nftables mode, IPv6').waitFor();
      await served.stopProxy();
      await page.getByLabel('IP family').selectOption('IPv4');
      await page.getByText('The rules cannot be listed.').waitFor();
      await page.getByLabel('IP family').selectOption('IPv6', { timeout: 10_000 });
      await page.getByText('The rules cannot be listed.').waitFor();
      await served.startProxy();
      await page.getByText('nftables mode, IPv6').waitFor();
    });
  });
});
