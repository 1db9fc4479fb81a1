import type { Server } from 'node:net';
import { splitHostPort } from '../../config/index.ts';
import { isLoopback, parseIp } from '../../net/index.ts';
import type { PageAddress } from '../../page/index.ts';
import { FlagError } from '../flags/index.ts';
import { pageAddress } from '../page-address.ts';

/** Where the demo serves its page. */
export interface PageOptions {
  readonly address: PageAddress;
  readonly listener?: Server | undefined;
}

export interface PageFlag {
  /** The value of `--page-bind-address`. */
  readonly text: string;
  /** The flag is on the command line. */
  readonly isGiven: boolean;
  readonly isOnce: boolean;
}

/** The page of the demo. Undefined if there is none. Throws a FlagError if the address cannot be used. */
export async function demoPageOptions({ text, isGiven, isOnce }: PageFlag): Promise<PageOptions | undefined> {
  if (text === '' || (isOnce && !isGiven)) return undefined;
  const ip = parseIp(splitHostPort(text)?.host ?? '');
  if (ip !== undefined && !isLoopback(ip)) {
    throw new FlagError('--page-bind-address: the page of the demo has no token, so use 127.0.0.1 or [::1]');
  }
  const address = pageAddress({ address: text, certFile: '', keyFile: '', tokenFile: '' }, '--page-', !isGiven);
  return { address, listener: await handedListener() };
}

/** `npm start` sets this if it sends a listener. */
const LISTENER_VARIABLE = 'POINTSMAN_PAGE_LISTENER';

/**
 * The listener that `npm start` opened in the network of the machine. A user who is not root gets a user namespace with
 * a network of its own, and no browser reaches that.
 */
async function handedListener(): Promise<Server | undefined> {
  if (process.env[LISTENER_VARIABLE] === undefined || !process.connected) return undefined;
  const listener = await new Promise<Server | undefined>(resolve => {
    process.once('message', (_, handle) => resolve(handle as Server | undefined));
    process.once('disconnect', () => resolve(undefined));
  });
  // The channel would keep this process alive.
  if (process.connected) process.disconnect();
  return listener;
}
