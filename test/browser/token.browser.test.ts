import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { certificates } from '../support/certificates.ts';
import { violations } from './accessibility.ts';
import { ServedPage } from './served-page.ts';
import { shownServices } from './service-list.ts';
import { withTab } from './tab.ts';
import { untilEqual } from './wait.ts';

const TOKEN = 'a-token-of-many-characters';

describe('a page with a certificate and a token', () => {
  const folder = mkdtempSync(join(tmpdir(), 'token-'));
  let served: ServedPage;
  before(async () => {
    const { server } = certificates();
    const write = (name: string, text: string) => {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      return join(folder, name);
    };
    const flags = [
      ...['--page-tls-cert-file', write('cert.pem', server.cert)],
      ...['--page-tls-key-file', write('key.pem', server.key)],
      ...['--page-token-file', write('token', `${TOKEN}\n`)],
    ];
    served = await ServedPage.start({ flags, scheme: 'https' });
  });
  after(async () => {
    await served?.close();
    rmSync(folder, { recursive: true });
  });

  test('PAGE-107 the page asks for the token, refuses a wrong one, and keeps the right one in this tab only', async () => {
    const options = { url: served.url, acceptsAnyCertificate: true, mayLoseProxy: true };
    await withTab(options, async page => {
      const field = page.getByLabel('Token');
      await field.waitFor();
      assert.deepEqual(await shownServices(page), []);
      assert.deepEqual(await violations(page), []);
      await field.fill('a-wrong-token-of-many-characters');
      await field.press('Enter');
      await page.getByText('The proxy refused the token.').waitFor();
      await field.fill(TOKEN);
      await field.press('Enter');
      await untilEqual('all Services are shown', 6, async () => (await shownServices(page)).length);
      assert.ok(!page.url().includes(TOKEN));
      assert.deepEqual(await page.context().cookies(), []);
      await page.reload();
      await untilEqual('all Services after a reload', 6, async () => (await shownServices(page)).length);
      const other = await page.context().newPage();
      await other.goto(served.url);
      await other.getByLabel('Token').waitFor();
    });
  });
});
