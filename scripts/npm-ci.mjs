// Runs `npm ci`, shows its progress, and explains a failure in a few lines instead of npm's own pages.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const ARGUMENTS = [
  'ci',
  '--no-audit',
  '--no-fund',
  '--no-progress',
  // At this level npm prints a line for each package that it has fetched.
  '--loglevel=http',
  // Without a network, npm's defaults wait for more than a minute.
  '--fetch-retries=2',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-factor=2',
];

const FETCHED = /^npm http (?:fetch GET 200|cache) .*\.tgz/;
const ERROR = /^npm (?:error|ERR!) ?(.*)$/;
const CODE = /^code (\w+)$/;

/** The codes of errors that mean: npm did not reach its registry. */
const NETWORK_CODES = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ERR_SOCKET_TIMEOUT',
  'ETIMEDOUT',
]);

const MAX_ERROR_LINES = 8;
const TERMINAL_REDRAW_MS = 200;
/** In a log, a line now and then shows that the installation goes on. */
const LOG_LINE_MS = 10_000;

/**
 * Installs the packages of the lock file. Ends this process if that fails.
 * @param {string} folder
 */
export async function installFromLock(folder) {
  const progress = showProgress(packageCount(folder));
  const child = spawn('npm', ARGUMENTS, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  /** @type {string[]} */
  const errors = [];
  const lines = createInterface({ input: child.stderr });
  lines.on('line', line => {
    if (FETCHED.test(line)) progress.fetched();
    const [, text] = ERROR.exec(line) ?? [];
    if (text !== undefined) errors.push(text);
  });
  const [status] = await Promise.race([
    once(child, 'close'),
    once(child, 'error').then(([error]) => [errors.push(error.message)]),
  ]);
  progress.end(status === 0);
  if (status === 0) return;
  console.error(failureText(errors));
  process.exit(1);
}

/** @param {readonly string[]} errors what npm said, without its prefix */
export function failureText(errors) {
  const code = errors.map(line => CODE.exec(line)?.[1]).find(Boolean);
  if (code !== undefined && NETWORK_CODES.has(code)) {
    return `npm cannot reach its registry (${code}), and this command needs packages that are not installed yet.
Check the network, and "npm config get registry" and "npm config get proxy". Then run the command again.`;
  }
  const useful = errors.filter(line => line.trim() !== '' && !line.startsWith('A complete log'));
  const shown = useful.slice(0, MAX_ERROR_LINES).map(line => `  ${line}`);
  return ['npm could not install the packages:', ...shown, 'To see everything, run: npm ci'].join('\n');
}

/** @param {number} total */
function showProgress(total) {
  const start = performance.now();
  const isTerminal = process.stderr.isTTY;
  let count = 0;
  const seconds = () => Math.round((performance.now() - start) / 1000);
  const show = () => {
    const text = `npm: ${Math.min(count, total)} of ${total} packages, ${seconds()} s`;
    process.stderr.write(isTerminal ? `\r${text}\x1b[K` : `${text}\n`);
  };
  const timer = setInterval(show, isTerminal ? TERMINAL_REDRAW_MS : LOG_LINE_MS);
  return {
    fetched() {
      count++;
    },
    /** @param {boolean} isDone */
    end(isDone) {
      clearInterval(timer);
      if (isTerminal) process.stderr.write('\r\x1b[K');
      if (isDone) console.error(`npm: all packages are installed, after ${seconds()} s`);
    },
  };
}

/**
 * The number of packages that npm fetches for this machine.
 * @param {string} folder
 */
function packageCount(folder) {
  /** @type {{ packages: Record<string, { os?: string[], cpu?: string[], libc?: string[] }> }} */
  const { packages } = JSON.parse(readFileSync(`${folder}/package-lock.json`, 'utf8'));
  return Object.entries(packages).filter(
    ([path, { os = [process.platform], cpu = [process.arch], libc = ['glibc'] }]) =>
      path !== '' && os.includes(process.platform) && cpu.includes(process.arch) && libc.includes('glibc'),
  ).length;
}
