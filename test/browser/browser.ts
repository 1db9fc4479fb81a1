import { existsSync } from 'node:fs';
import { after } from 'node:test';
import { type Browser, chromium } from 'playwright-core';

/** Debian's path of the browser. */
const CHROMIUM = '/usr/bin/chromium';

const ARGS = [
  '--disable-gpu',
  // The default, /dev/shm, is too small in many containers.
  '--disable-dev-shm-usage',
  // Otherwise the browser asks its maker for updates and lists.
  '--disable-background-networking',
];

let launched: Promise<Browser> | undefined;

/**
 * The browser of all browser tests. It ends after the last test. If this process is killed, the browser notices that
 * the pipe to it is closed, and ends.
 */
export function theBrowser(): Promise<Browser> {
  launched ??= launch();
  return launched;
}

// At the top of the file this hook belongs to the whole run. In a test it would belong to that test.
after(async () => (await launched)?.close());

function launch(): Promise<Browser> {
  if (!existsSync(CHROMIUM)) throw new Error(`there is no browser at ${CHROMIUM}`);
  // The browser refuses to make its sandbox as root. The tests load only our own page.
  const isRoot = process.getuid?.() === 0;
  return chromium.launch({ executablePath: CHROMIUM, chromiumSandbox: !isRoot, args: ARGS, timeout: 60_000 });
}
