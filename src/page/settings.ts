import type { Ip } from '../net/index.ts';

/** Where the page is served. */
export interface PageAddress {
  readonly ip: Ip;
  readonly port: number;
  /** Listen on another free port if a program has this one. */
  readonly mayUseOtherPort: boolean;
  /** Undefined only at a loopback address: there the page needs neither TLS nor a token. */
  readonly files: PageFiles | undefined;
}

export interface PageFiles {
  /** In PEM. */
  readonly certFile: string;
  readonly keyFile: string;
  readonly tokenFile: string;
}

export const DEFAULT_PAGE_ADDRESS = '127.0.0.1:10280';
