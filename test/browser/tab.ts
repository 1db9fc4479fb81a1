import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { theBrowser } from './browser.ts';
import { MAX_WAIT_MS } from './wait.ts';

export interface TabOptions {
  readonly url: string;
  /** The address in the page: `#/services`. */
  readonly hash?: string;
  readonly width?: number;
  readonly height?: number;
  readonly isDark?: boolean;
  readonly isTouch?: boolean;
  readonly acceptsAnyCertificate?: boolean;
  /** Requests of the page may fail: the test ends the proxy, or gives no token. */
  readonly mayLoseProxy?: boolean;
}

/**
 * Runs the work with the page in a tab of its own, without cookies or anything else of other tabs. Afterwards fails if
 * the browser had something to report: an error of a script, a violation of the Content-Security-Policy, a dialog, a
 * request to another server.
 */
export async function withTab(options: TabOptions, work: (page: Page) => Promise<void>): Promise<void> {
  const { url, hash = '', width = 1200, height = 800, isDark = false } = options;
  const browser = await theBrowser();
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: isDark ? 'dark' : 'light',
    hasTouch: options.isTouch ?? false,
    ignoreHTTPSErrors: options.acceptsAnyCertificate ?? false,
    locale: 'en-GB',
    timezoneId: 'UTC',
  });
  try {
    context.setDefaultTimeout(MAX_WAIT_MS);
    const page = await context.newPage();
    const reports = watch(page, options);
    await page.goto(`${url}${hash}`);
    await work(page).catch(error => explain(page, error, reports));
    assert.deepEqual(reports, []);
  } finally {
    await context.close();
  }
}

/** Collects everything that the browser reports and that a good page never causes. */
function watch(page: Page, { url, mayLoseProxy = false }: TabOptions): readonly string[] {
  const reports: string[] = [];
  const isAllowed = (text: string) => mayLoseProxy && text.startsWith('Failed to load resource');
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type()) && !isAllowed(message.text())) reports.push(message.text());
  });
  page.on('pageerror', error => reports.push(`${error.stack ?? error}`));
  page.on('dialog', dialog => {
    reports.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', request => {
    const isOwn = request.url().startsWith(url) || /^(?:data|blob|about):/.test(request.url());
    if (!isOwn) reports.push(`a request to ${request.url()}`);
  });
  return reports;
}

/** Throws the error again, with what the page shows. */
async function explain(page: Page, error: unknown, reports: readonly string[]): Promise<never> {
  const shown = await page
    .locator('body')
    .innerText({ timeout: 5000 })
    .catch(() => 'nothing that can be read');
  const text = `${error instanceof Error ? error.stack : error}`;
  const address = page.url();
  throw new Error(`${text}\nAt ${address} the page shows:\n${shown.slice(0, 3000)}\n${reports.join('\n')}`);
}
