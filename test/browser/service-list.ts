import type { Page } from 'playwright-core';

/** `ns/name` of the Services that the list shows. */
export async function shownServices(page: Page): Promise<readonly string[]> {
  return (await page.locator('.service-table .cell-name a').allTextContents()).map(text => text.trim());
}

/** The texts of a row's cells. */
export function serviceRow(page: Page, key: string) {
  return page.locator('.service-table tr').filter({ has: page.getByRole('link', { name: key, exact: true }) });
}
