import { isRecord } from '../../lib/is-record.ts';
import type { ProxySocket } from '../proxy-socket.ts';
import { MAX_PART_LENGTH, type Part } from './part.ts';

const TIMEOUT_MS = 30_000;

/** What only the running proxy knows. */
export function partsFromProxy(socket: ProxySocket): readonly Part[] {
  return [
    object(socket, 'status', 'versions, mode, checks, last syncs, drift, memory and watches'),
    object(socket, 'problems', 'input that cannot be used, service ports set aside, conflicts'),
    object(socket, 'configuration', 'the configuration in force, and the flags'),
    lines(socket, 'services', 'every service port and its state, one JSON object a line'),
    lines(socket, 'plan', 'every frontend and endpoint, with the reasons, one JSON object a line'),
    object(socket, 'socket-counts', 'how many sockets are connected to each endpoint, in ebpf mode'),
    lines(socket, 'history', 'the last changes, one JSON object a line'),
    {
      file: 'proxy/metrics.txt',
      about: 'all metrics',
      collect: () => socket.text('/v1/metrics', { timeoutMs: TIMEOUT_MS }),
    },
    { file: 'proxy/log.txt', about: 'the last lines of the log', collect: () => logText(socket) },
  ];
}

function object(socket: ProxySocket, name: string, about: string): Part {
  const collect = async () =>
    `${JSON.stringify(await socket.ask(`/v1/${name}`, { timeoutMs: TIMEOUT_MS }), undefined, 2)}\n`;
  return { file: `proxy/${name}.json`, about, collect };
}

function lines(socket: ProxySocket, name: string, about: string): Part {
  return {
    file: `proxy/${name}.jsonl`,
    about,
    collect: () => joinLines(socket.lines(`/v1/${name}`, { timeoutMs: TIMEOUT_MS }), row => JSON.stringify(row)),
  };
}

function logText(socket: ProxySocket): Promise<string> {
  const rows = socket.lines('/v1/log', { timeoutMs: TIMEOUT_MS });
  return joinLines(rows, row => (isRecord(row) && typeof row.line === 'string' ? row.line : undefined));
}

async function joinLines(rows: AsyncIterable<unknown>, textOf: (row: unknown) => string | undefined): Promise<string> {
  const parts: string[] = [];
  let length = 0;
  for await (const row of rows) {
    const text = textOf(row);
    if (text === undefined) continue;
    length += text.length + 1;
    if (length > MAX_PART_LENGTH) {
      parts.push('… the rest is left out, because the file would be too long');
      break;
    }
    parts.push(text);
  }
  return parts.map(text => `${text}\n`).join('');
}
