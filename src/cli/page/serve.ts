import { hostname } from 'node:os';
import { ReportOnce } from '../../lib/report-once.ts';
import { type PageAddress, PageServer, type PageServerOptions } from '../../page/index.ts';
import type { Io } from '../command.ts';

export interface ServePageOptions {
  readonly address: PageAddress;
  readonly handle: PageServerOptions['handle'];
  readonly io: Io;
  /** Ends the server. */
  readonly signal: AbortSignal;
}

/** Serves a page until the signal is aborted. Rejects if the page cannot be served. */
export function servePage({ address, handle, io, signal }: ServePageOptions): Promise<void> {
  const reported = new ReportOnce();
  return new Promise((resolve, reject) => {
    const server = new PageServer({
      address,
      hostNames: [hostname()],
      handle,
      hardFail: true,
      onListen: url => void io.stdout.write(`The operator's page: ${url}\nPress Ctrl-C to end.\n`),
      onError: error => {
        server.close();
        reject(error);
      },
      onFileError: ({ message }) => {
        if (reported.add('files', message)) io.stderr.write(`The page keeps its certificate and token: ${message}\n`);
      },
    });
    const end = () => {
      server.close();
      resolve();
    };
    if (signal.aborted) return end();
    signal.addEventListener('abort', end, { once: true });
    void server.start();
  });
}
