import { compareTexts } from '../../lib/compare-texts.ts';
import type { HttpAnswer, HttpRequest } from '../http/index.ts';
import { negotiate } from './negotiation.ts';

const COMPONENT = 'kube-proxy';
const WARNING =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.';

export interface StatuszInfo {
  readonly binaryVersion: string;
  /** The release of Kubernetes whose behaviour the proxy has: `1.37`. */
  readonly emulationVersion: string;
}

interface StatuszContent extends StatuszInfo {
  readonly startMs: number;
  readonly nowMs: number;
  readonly paths: readonly string[];
}

export function flagzAnswer(request: HttpRequest, flags: ReadonlyMap<string, string>): HttpAnswer {
  const sorted = [...flags].sort(([a], [b]) => compareTexts(a, b));
  const lines = () => sorted.map(([name, value]) => `${name}=${value}`);
  const page = {
    kind: 'Flagz',
    text: () => pageText('flagz', lines()),
    fields: () => ({ flags: Object.fromEntries(sorted) }),
  };
  return negotiate(request, page);
}

export function statuszAnswer(request: HttpRequest, status: StatuszContent): HttpAnswer {
  const uptimeSeconds = Math.max(0, Math.floor((status.nowMs - status.startMs) / 1000));
  const page = {
    kind: 'Statusz',
    text: () => pageText('statusz', ['', ...statusLines(status, uptimeSeconds)]),
    fields: () => ({
      startTime: `${new Date(status.startMs).toISOString().slice(0, 19)}Z`,
      uptimeSeconds,
      goVersion: `Node ${process.version}`,
      binaryVersion: status.binaryVersion,
      emulationVersion: status.emulationVersion,
      paths: status.paths,
    }),
  };
  return negotiate(request, page);
}

function statusLines({ startMs, binaryVersion, emulationVersion, paths }: StatuszContent, uptime: number): string[] {
  const two = (value: number) => String(value).padStart(2, '0');
  return [
    `Started: ${unixDate(startMs)}`,
    `Up: ${Math.floor(uptime / 3600)} hr ${two(Math.floor(uptime / 60) % 60)} min ${two(uptime % 60)} sec`,
    `Node version: ${process.version}`,
    `Binary version: ${binaryVersion}`,
    `Emulation version: ${emulationVersion}`,
    `Paths: ${paths.join(' ')}`,
  ];
}

/** `Sun Nov 15 07:36:47 UTC 2026` */
function unixDate(ms: number): string {
  const [weekday = '', day = '', month = '', year = '', time = ''] = new Date(ms).toUTCString().split(' ');
  return `${weekday.slice(0, 3)} ${month} ${day.replace(/^0/, ' ')} ${time} UTC ${year}`;
}

function pageText(name: string, lines: readonly string[]): string {
  return ['', `${COMPONENT} ${name}`, WARNING, ...lines].map(line => `${line}\n`).join('');
}
