import type { Browser, Page } from 'playwright-core';
import { smallPng } from './small-png.ts';
import { untilLoaded, untilShown } from './wait.ts';

/** Where the pictures of the documents are. */
export const PICTURES_FOLDER = 'docs/pictures';
export const PICTURE_SIZE = { width: 1200, height: 750 };

export interface Picture {
  /** The files are NAME.png and NAME.txt. */
  readonly name: string;
  /** The address in the page of a proxy with `examples`. */
  readonly hash: string;
  readonly isDark?: boolean;
  /** The view is complete when it shows this. */
  readonly shows: string | RegExp;
}

export const PICTURES: readonly Picture[] = [
  { name: 'services', hash: '#/services', shows: '6 Services' },
  { name: 'service', hash: '#/service/default/api?from=outside', shows: 'Policy Cluster uses 2 of 2.' },
  { name: 'ask', hash: '#/ask?from=node&to=default/web:80', shows: 'The kernel has all' },
  { name: 'rules', hash: '#/rules?service=default/web&way=1', isDark: true, shows: /10\.96\.0\.10/ },
];

/** The picture, and what it shows in words. */
export interface Taken {
  readonly png: Buffer;
  readonly text: string;
}

/** Takes a picture of the page at the URL. */
export async function takePicture(browser: Browser, url: string, picture: Picture): Promise<Taken> {
  const context = await browser.newContext({
    viewport: PICTURE_SIZE,
    colorScheme: picture.isDark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'UTC',
  });
  try {
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    await page.goto(`${url}${picture.hash}`);
    await untilLoaded(page);
    await untilShown(page.locator('main'), picture.shows);
    const png = await page.screenshot({ animations: 'disabled', caret: 'hide' });
    return { png: smallPng(png), text: await textOf(page) };
  } finally {
    await context.close();
  }
}

/** The text of the view without what differs from run to run: durations and numbers of processes. */
async function textOf(page: Page): Promise<string> {
  const text = await page.locator('main').innerText();
  const lines = text.split('\n').map(line =>
    line
      .replaceAll(/(?:[<>] )?\b[\d.,]+ (?:ms|s|min|h|d)\b(?: ago)?/g, 'TIME')
      .replaceAll('before the history begins', 'TIME')
      .replaceAll(/\bnow\b/g, 'TIME')
      .trimEnd(),
  );
  return `${lines.filter(line => line !== '').join('\n')}\n`;
}
