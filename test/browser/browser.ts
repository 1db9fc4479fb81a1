import { after } from 'node:test';
import type { Browser } from 'playwright-core';
import { launchChromium } from './chromium.ts';

let launched: Promise<Browser> | undefined;

/** The browser of all browser tests. It ends after the last test. */
export function theBrowser(): Promise<Browser> {
  launched ??= launchChromium();
  return launched;
}

// At the top of the file this hook belongs to the whole run. In a test it would belong to that test.
after(async () => (await launched)?.close());
