import { type Browser, chromium } from 'playwright-core';

/** Debian's path of the browser. */
const CHROMIUM = '/usr/bin/chromium';

const ARGS = [
  '--disable-gpu',
  // The default, /dev/shm, is too small in many containers.
  '--disable-dev-shm-usage',
  // Otherwise the browser asks its maker for updates and lists.
  '--disable-background-networking',
  '--enable-precise-memory-info',
];

/** Starts the browser. If this process is killed, the browser notices that the pipe to it is closed, and ends. */
export function launchChromium(): Promise<Browser> {
  // The browser refuses to make its sandbox as root. We load only our own page.
  const isRoot = process.getuid?.() === 0;
  return chromium.launch({ executablePath: CHROMIUM, chromiumSandbox: !isRoot, args: ARGS, timeout: 60_000 });
}
