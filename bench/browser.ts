// Measures the operator's page in Debian's chromium, with the page of a real proxy: the time until the first rows and
// until the whole list, the frames of a scroll through the list, how long a search takes, and the memory of scripts.
// Works in a network namespace of its own. Needs root.
//   --size 1000,44125   Services
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../test/browser/chromium.ts';
import { manyServiceKey, writeManyServices } from '../test/browser/many-services.ts';
import { ServedPage } from '../test/browser/served-page.ts';
import { COMMON_FLAGS } from './support/flags.ts';
import { mebibytes, median, type Row, report, reportMachine, rounded } from './support/report.ts';

const { values: flags } = parseArgs({
  options: { ...COMMON_FLAGS, size: { type: 'string', default: '1000,44125' } },
});

const SCROLL_FRAMES = 300;
const LONG_FRAME_MS = 50;
const SEARCHES = 10;
const MAX_WAIT_MS = 120_000;

/** Scrolls through the whole list, some pixels with each frame. Resolves with how long each frame took. */
const SCROLL = `new Promise(resolve => {
  const box = document.querySelector('.service-box');
  const step = (box.scrollHeight - box.clientHeight) / ${SCROLL_FRAMES};
  const frames = [];
  let last = performance.now();
  const next = now => {
    frames.push(now - last);
    last = now;
    box.scrollTop += step;
    if (frames.length > ${SCROLL_FRAMES}) resolve(frames.slice(1));
    else requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
})`;

/** Types a text into the search, and resolves with the time until the next frame after the rows are right. */
const search = (text: string, found: string) => `new Promise(resolve => {
  const box = document.querySelector('#search');
  const begin = performance.now();
  box.value = ${JSON.stringify(text)};
  box.dispatchEvent(new InputEvent('input', { bubbles: true }));
  const look = () => {
    const first = document.querySelector('.service-table .cell-name a');
    if (first?.textContent === ${JSON.stringify(found)}) resolve(performance.now() - begin);
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})`;

async function main(): Promise<void> {
  reportMachine();
  const browser = await launchChromium();
  try {
    const rows: Row[] = [];
    for (const size of flags.size.split(',').map(Number)) rows.push(await measure(browser, size));
    report(rows);
  } finally {
    await browser.close();
  }
}

async function measure(browser: Browser, count: number): Promise<Row> {
  const manifests = mkdtempSync(join(tmpdir(), 'manifests-'));
  writeManyServices(manifests, count);
  let served: ServedPage | undefined;
  try {
    served = await ServedPage.start({ manifests });
    const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
    page.setDefaultTimeout(MAX_WAIT_MS);
    const opened = await measureOpening(page, served.url, count);
    const frames = await page.evaluate<number[]>(SCROLL);
    const searches: number[] = [];
    for (let i = 0; i < SEARCHES; i++)
      searches.push(await measureSearch(page, Math.floor((count * (i + 0.5)) / SEARCHES)));
    return {
      Services: count,
      ...opened,
      'frames over 50 ms': `${frames.filter(ms => ms > LONG_FRAME_MS).length} of ${frames.length}`,
      'longest frame ms': rounded(Math.max(...frames), 0),
      'search ms': rounded(median(searches), 1),
      'longest search ms': rounded(Math.max(...searches), 1),
      'heap MiB': mebibytes(await heapOf(page)),
    };
  } finally {
    await served?.close();
    rmSync(manifests, { recursive: true });
  }
}

async function measureOpening(page: Page, url: string, count: number): Promise<Row> {
  const begin = performance.now();
  await page.goto(url);
  await page.locator('.service-table .cell-name a').first().waitFor();
  const firstRows = performance.now() - begin;
  await page.getByText(`${count.toLocaleString('en')} Services`, { exact: true }).waitFor();
  const paint = await page.evaluate<number>(
    'performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0',
  );
  return {
    'first paint ms': rounded(paint, 0),
    'first rows ms': rounded(firstRows, 0),
    'all rows ms': rounded(performance.now() - begin, 0),
  };
}

/** A search for one Service, by its name. */
function measureSearch(page: Page, i: number): Promise<number> {
  return page.evaluate<number>(search(manyServiceKey(i), manyServiceKey(i)));
}

async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  return page.evaluate<number>('performance.memory.usedJSHeapSize');
}

await main();
