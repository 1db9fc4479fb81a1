import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { encodeSocketAddress } from '../../src/kernel/sockets/index.ts';
import { type Ip, ipFromBytes } from '../../src/net/index.ts';

/**
 * Listens at all addresses of its network, and connects without a pause to destinations that it picks by chance. When
 * its input ends, it prints all attempts: number of the destination, start and end in nanoseconds, and the address that
 * the socket got or the errno. An address of this machine that is connected to is also the socket's own address, so it
 * tells the endpoint.
 */
const CONNECT = `
  const koffi = require('koffi');
  const libc = koffi.load('libc.so.6');
  const call = (name, ...types) => libc.func('int ' + name + '(' + types.join(', ') + ')');
  const [socket, close] = [call('socket', 'int', 'int', 'int'), call('close', 'int')];
  const connect = call('connect', 'int', 'const void *', 'int');
  const [bind, listen] = [call('bind', 'int', 'const void *', 'int'), call('listen', 'int', 'int')];
  const accept = call('accept', 'int', 'void *', 'void *');
  const getsockname = call('getsockname', 'int', 'void *', 'void *');
  const setsockopt = call('setsockopt', 'int', 'int', 'int', 'const void *', 'int');
  const [port, ...hex] = process.argv.slice(1);
  const destinations = hex.map(text => Buffer.from(text, 'hex'));
  const any = Buffer.alloc(28);
  any.writeUInt16LE(10);
  any.writeUInt16BE(Number(port), 2);
  const listener = socket(10, 1 | 0o4000, 0);
  if (bind(listener, any, 28) < 0 || listen(listener, 4096) < 0) throw new Error('cannot listen');
  const reset = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);
  const end = fd => (setsockopt(fd, 1, 13, reset, 8), close(fd));
  function attempt(address) {
    const fd = socket(address.readUInt16LE(0), 1, 0);
    const start = process.hrtime.bigint();
    const result = connect(fd, address, address.length) < 0 ? 'errno ' + koffi.errno() : own(fd);
    const ended = process.hrtime.bigint();
    end(fd);
    for (let taken; (taken = accept(listener, null, null)) >= 0; ) end(taken);
    return [Number(start), Number(ended), result];
  }
  function own(fd) {
    const [name, length] = [Buffer.alloc(28), Buffer.from([28, 0, 0, 0])];
    getsockname(fd, name, length);
    return name.readUInt16LE(0) === 2 ? name.toString('hex', 4, 8) : name.toString('hex', 8, 24);
  }
  const attempts = [];
  let isOver = false;
  process.stdin.on('end', () => (isOver = true)).resume();
  function run() {
    for (let i = 0; i < 20; i++) {
      const number = Math.floor(Math.random() * destinations.length);
      attempts.push([number, ...attempt(destinations[number])]);
    }
    if (!isOver) return setImmediate(run);
    process.stdout.write(JSON.stringify(attempts), () => process.exit());
  }
  process.stdout.write('listening', run);
`;

export interface Attempt {
  /** The number of the destination. */
  readonly destination: number;
  /** Both by the clock of `process.hrtime`, in nanoseconds. */
  readonly start: number;
  readonly end: number;
  /** The address that took the connection, or `errno 111`. */
  readonly result: string;
}

/** Another process of this control group that connects all the time. */
export class ConnectingProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;

  private constructor(child: ChildProcessByStdio<Writable, Readable, null>) {
    this.#child = child;
  }

  /** `port` is that of all endpoints. By default the process belongs to the control group of this process. */
  static async start(
    namespace: NetworkNamespace,
    port: number,
    destinations: readonly { readonly ip: Ip; readonly port: number }[],
    controlGroup?: string,
  ): Promise<ConnectingProcess> {
    const hex = destinations.map(({ ip, port }) => encodeSocketAddress(ip, port).toString('hex'));
    const child = namespace.run(() =>
      spawn(process.execPath, ['-e', CONNECT, `${port}`, ...hex], { stdio: ['pipe', 'pipe', 'inherit'] }),
    );
    // The process needs much longer to start.
    if (controlGroup !== undefined) writeFileSync(join(controlGroup, 'cgroup.procs'), `${child.pid}`);
    await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(([status]) => Promise.reject(new Error(`the clients ended with status ${status}`))),
    ]);
    return new ConnectingProcess(child);
  }

  /** Ends the process, and returns what happened to its connections. */
  async end(): Promise<readonly Attempt[]> {
    let text = '';
    this.#child.stdout.setEncoding('utf8').on('data', part => {
      text += part;
    });
    const closed = once(this.#child, 'close');
    this.#child.stdin.end();
    await closed;
    const rows: readonly (readonly [number, number, number, string])[] = JSON.parse(text);
    return rows.map(([destination, start, end, result]) => ({ destination, start, end, result: nameOf(result) }));
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

function nameOf(result: string): string {
  return result.startsWith('errno') ? result : (ipFromBytes(Buffer.from(result, 'hex')) ?? result);
}
