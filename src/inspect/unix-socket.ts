import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, renameSync, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { errorCode } from '../lib/error-code.ts';
import { type HttpHandler, HttpServer, type HttpServerSettings, listenUnix } from '../observe/http/index.ts';

/** The kernel's limit for the path of a socket, without the zero byte at its end. */
const MAX_PATH_BYTES = 107;
const CONNECT_TIMEOUT_MS = 1000;

/** Another process listens at the socket. */
export class SocketInUseError extends Error {
  override readonly name = 'SocketInUseError';
}

export interface UnixServerOptions extends Omit<HttpServerSettings, 'handle'> {
  readonly path: string;
  readonly handle: HttpHandler;
}

/** An HTTP server at a Unix socket that only root can open. */
export class UnixServer {
  readonly #http: HttpServer;
  readonly #path: string;
  readonly #inode: bigint;

  private constructor(http: HttpServer, path: string, inode: bigint) {
    this.#http = http;
    this.#path = path;
    this.#inode = inode;
  }

  /**
   * Makes the folder if it is missing. Replaces the socket of a process that has ended. Rejects with a
   * `SocketInUseError` if a process listens there.
   */
  static async open({ path, ...settings }: UnixServerOptions): Promise<UnixServer> {
    const folder = dirname(path);
    makeFolder(folder);
    await refuseIfInUse(path);
    // Node deletes the file under its first name when the server closes. By then that file may be another process's.
    const firstPath = join(folder, `.${randomBytes(4).toString('hex')}`);
    for (const name of [path, firstPath]) {
      if (Buffer.byteLength(name) <= MAX_PATH_BYTES) continue;
      throw new Error(`the path is too long: the kernel allows ${MAX_PATH_BYTES} bytes`);
    }
    const http = await HttpServer.serve(onConnection => listenUnix(firstPath, onConnection), settings);
    try {
      const { ino } = lstatSync(firstPath, { bigint: true });
      renameSync(firstPath, path);
      return new UnixServer(http, path, ino);
    } catch (error) {
      http.close();
      throw error;
    }
  }

  /** Whether the path still leads to this server. Another process may have deleted or replaced the file. */
  get isReachable(): boolean {
    return inodeOf(this.#path) === this.#inode;
  }

  /** Deletes the file, unless it is another process's by now. */
  close(): void {
    const isOwn = this.isReachable;
    this.#http.close();
    if (isOwn) unlinkIfThere(this.#path);
  }
}

/** Node's own recursive mkdir reports a missing file where the file system is read-only. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(folder) === folder) throw error;
    makeFolder(dirname(folder));
    mkdirSync(folder, { mode: 0o700 });
  }
}

function inodeOf(path: string): bigint | undefined {
  try {
    return lstatSync(path, { bigint: true }).ino;
  } catch {
    return undefined;
  }
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // The folder may be gone.
  }
}

/** A socket whose process has ended refuses connections. The caller replaces it. */
async function refuseIfInUse(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return;
  if (!found.isSocket()) throw new Error('there is a file with this name that is no socket');
  const code = await connectError(path);
  if (code === undefined) throw new SocketInUseError('another process listens there');
  if (code !== 'ECONNREFUSED' && code !== 'ENOENT') throw new Error(`the socket does not answer: ${code}`);
}

/** The error of an attempt to connect, or undefined if a process listens. */
function connectError(path: string): Promise<string | undefined> {
  return new Promise(resolve => {
    const socket = connect({ path });
    const end = (code: string | undefined) => {
      socket.destroy();
      resolve(code);
    };
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => end('ETIMEDOUT'));
    socket.once('connect', () => end(undefined));
    // A full queue means that a process listens, but does not keep up.
    socket.on('error', error => end(errorCode(error) === 'EAGAIN' ? undefined : (errorCode(error) ?? error.message)));
  });
}
