import type { Locator, Page } from 'playwright-core';
import { waitFor } from '../support/wait-for.ts';

/** The whole test suite may run beside a test. */
export const MAX_WAIT_MS = 120_000;

/** Waits until the page shows the text somewhere in an element. */
export async function untilShown(where: Page | Locator, text: string | RegExp): Promise<void> {
  await where.getByText(text).first().waitFor();
}

/** Waits until the function returns what is wanted. The error has what it returned last. */
export async function untilEqual<Value>(what: string, wanted: Value, get: () => Promise<Value>): Promise<void> {
  let last: Value | undefined;
  const isReached = async () => {
    last = await get();
    return JSON.stringify(last) === JSON.stringify(wanted);
  };
  const details = () => `wanted ${JSON.stringify(wanted)}, but it is ${JSON.stringify(last)}`;
  await waitFor(what, isReached, { timeoutMs: MAX_WAIT_MS, pollMs: 20, details });
}

/** Waits until the view has its data: nothing of it is still loading. */
export async function untilLoaded(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor({ state: 'attached' });
  await untilEqual('nothing is loading', 0, () => page.locator('.loading').count());
}
