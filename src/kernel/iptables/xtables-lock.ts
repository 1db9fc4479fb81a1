import { closeSync, constants as O, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import koffi from 'koffi';
import { errorCode } from '../../lib/error-code.ts';
import { bind, check, close, lastErrnoName, socket } from '../libc.ts';
import type { NetworkNamespace } from '../netns.ts';
import { IptablesError } from './iptables-error.ts';
import { findLockHolder } from './lock-holder.ts';

export const XTABLES_LOCK_FILE = '/run/xtables.lock';

const flock = koffi.load('libc.so.6').func('int flock(int fd, int operation)');
const LOCK_EX_NB = 2 | 4;
const AF_UNIX = 1;
const SOCK_STREAM_CLOEXEC = 1 | 0o2000000;
/**
 * Old versions of iptables lock by binding this abstract name: a zero byte and the word, without a zero byte after it.
 */
const SOCKET_ADDRESS = Buffer.from([AF_UNIX, 0, 0, ...Buffer.from('xtables')]);
const RETRY_MS = 200;

export interface XtablesLockOptions {
  readonly file?: string | undefined;
  readonly namespace?: NetworkNamespace | undefined;
  readonly timeoutMs?: number | undefined;
}

/**
 * The lock of the iptables programs: the file of newer versions and the socket of older ones. It is only for an
 * iptables-restore that does not lock by itself (before 1.6.2). A newer iptables-restore would wait for our lock.
 */
export class XtablesLock {
  readonly #file: number;
  readonly #socket: number;

  private constructor(file: number, socketFd: number) {
    this.#file = file;
    this.#socket = socketFd;
  }

  static async take(options: XtablesLockOptions = {}): Promise<XtablesLock> {
    const { file: path = XTABLES_LOCK_FILE, namespace, timeoutMs = 2000 } = options;
    const file = openFile(path);
    let socketFd: number | undefined;
    try {
      await retryUntilTaken(`lock ${path}`, path, timeoutMs, () => flock(file, LOCK_EX_NB) === 0);
      const open = () => check(socket(AF_UNIX, SOCK_STREAM_CLOEXEC, 0), 'open a unix socket');
      const fd = namespace ? namespace.run(open) : open();
      socketFd = fd;
      const bindName = () => bind(fd, SOCKET_ADDRESS, SOCKET_ADDRESS.length) === 0;
      await retryUntilTaken('bind @xtables', path, timeoutMs, bindName);
      return new XtablesLock(file, fd);
    } catch (error) {
      closeSync(file);
      if (socketFd !== undefined) close(socketFd);
      throw error;
    }
  }

  release(): void {
    close(this.#socket);
    closeSync(this.#file);
  }
}

function openFile(path: string): number {
  try {
    return openSync(path, O.O_CREAT | O.O_RDWR, 0o600);
  } catch (error) {
    const errno = errorCode(error);
    throw new IptablesError('resource', { operation: `open ${path}`, errno });
  }
}

async function retryUntilTaken(operation: string, path: string, timeoutMs: number, take: () => boolean): Promise<void> {
  const begun = performance.now();
  while (!take()) {
    const errno = lastErrnoName();
    const waitedMs = Math.round(performance.now() - begun);
    if (errno !== 'EAGAIN' && errno !== 'EADDRINUSE') throw new IptablesError('resource', { operation, errno });
    if (waitedMs >= timeoutMs) {
      const lockWait = { waitedMs, holder: errno === 'EAGAIN' ? findLockHolder(path) : undefined };
      throw new IptablesError('lock', { operation, errno }, { lockWait });
    }
    await delay(Math.min(RETRY_MS, timeoutMs - waitedMs));
  }
}
