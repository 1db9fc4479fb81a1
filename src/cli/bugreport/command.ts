import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { lstat, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { isRecord } from '../../lib/is-record.ts';
import { printable } from '../../lib/printable.ts';
import { defineCommand, type Io } from '../command.ts';
import { FlagError, string } from '../flags/index.ts';
import { type ProxySocket, proxySocket, SOCKET_FLAG } from '../proxy-socket.ts';
import { columns } from '../terminal-text.ts';
import { archiveBytes } from './archive.ts';
import { partsFromMachine } from './from-machine.ts';
import { partsFromProxy } from './from-proxy.ts';
import type { CollectedPart } from './part.ts';

const FLAGS = {
  ...SOCKET_FLAG,
  output: {
    type: string,
    default: '',
    shorthand: 'o',
    word: 'FILE',
    usage: 'file to write, or - for the standard output (default: pointsman-NODE-TIME.tar.gz in this folder)',
  },
};

export const bugreportCommand = defineCommand({
  name: 'bugreport',
  summary: 'collect everything that helps to find a fault in one archive',
  about: `Writes one tar.gz with everything that helps to find a fault of the proxy on this node: status, plan, Services,
history, recent log, metrics and configuration of the running proxy, and the state of the kernel. Removes credentials.
README.txt in the archive lists its files.

The command works also if no proxy runs. The archive then has only the state of the kernel. If a part cannot be read, the
archive has the reason instead. The command changes nothing.

Exit status: 0 if the archive is written, also if parts are missing; otherwise 1.`,
  usage: 'bugreport [flags]',
  examples: [
    { meaning: 'On a node, as root', command: 'kube-proxy bugreport' },
    {
      meaning: 'In a cluster',
      command: 'kubectl -n kube-system exec POD -- kube-proxy bugreport -o - > report.tar.gz',
    },
  ],
  flags: FLAGS,
  async run({ values }, io) {
    const socket = proxySocket(values);
    const time = Date.now();
    const name = `pointsman-${fileNamePart(await nodeName(socket))}-${timePart(time)}`;
    const parts: Omit<CollectedPart, 'content'>[] = [];
    const bytes = archiveBytes({
      folder: name,
      parts: [...partsFromProxy(socket), ...partsFromMachine()],
      time,
      collected: part => parts.push(part),
    });
    if (values.output === '-') {
      await writeToStdout(bytes, io);
      io.stderr.write(summary('the report to the standard output', parts));
      return 0;
    }
    const file = values.output === '' ? `${name}.tar.gz` : values.output;
    const size = await writeFile(bytes, file);
    io.stdout.write(summary(`${printable(file)}, ${sizeText(size)}`, parts));
    return 0;
  },
});

async function nodeName(socket: ProxySocket): Promise<string> {
  const status = await socket.ask('/v1/status').catch(() => undefined);
  return isRecord(status) && typeof status.node === 'string' ? status.node : hostname();
}

/** The name of a Node comes from outside. */
function fileNamePart(text: string): string {
  return text.replaceAll(/[^\w.-]/g, '_').slice(0, 40) || 'node';
}

function timePart(time: number): string {
  return new Date(time).toISOString().replaceAll(/[-:]|\.\d+/g, '');
}

/** Writes under another name first, so that a file with this name is always complete. Returns its size. */
async function writeFile(bytes: AsyncIterable<Buffer>, file: string): Promise<number> {
  const unfinished = `${file}.${randomBytes(4).toString('hex')}.part`;
  try {
    await refuseOtherThanFile(file);
    // wx: in a folder like /tmp, another user may have made a file or a link of this name.
    await pipeline(bytes, createGzip(), createWriteStream(unfinished, { mode: 0o600, flags: 'wx' }));
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {});
    throw new Error(
      `cannot write the report: ${error instanceof Error ? error.message : error}: name another file with -o`,
    );
  }
  return (await stat(file)).size;
}

/** Without this, `-o /dev/null` would replace the device. */
async function refuseOtherThanFile(file: string): Promise<void> {
  const found = await lstat(file).catch(() => undefined);
  if (found && !found.isFile()) throw new Error(`${file} is no regular file`);
}

async function writeToStdout(bytes: AsyncIterable<Buffer>, { stdout }: Io): Promise<void> {
  if (stdout.isTTY) throw new FlagError('the report is binary: redirect the standard output to a file');
  const target = new Writable({
    write(chunk: Buffer, _encoding, callback) {
      stdout.write(chunk);
      callback();
    },
  });
  await pipeline(bytes, createGzip(), target);
}

function summary(what: string, parts: readonly Omit<CollectedPart, 'content'>[]): string {
  const rows = parts.map(({ file, about, problem }, i) => {
    if (problem === undefined) return [`  ✓ ${file}`, about];
    // Without a proxy, many parts have the same long reason.
    return [`  - ${file}`, problem === parts[i - 1]?.problem ? 'as above' : printable(problem)];
  });
  const advice =
    'The report names Services, addresses and rules of this node. Read its README.txt before you give it to others.';
  return [`Wrote ${what}`, ...columns(rows), advice].map(line => `${line}\n`).join('');
}

function sizeText(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
