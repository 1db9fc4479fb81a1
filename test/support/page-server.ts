import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspectionHandler, objectAnswer, type Route } from '../../src/inspect/index.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { Ip } from '../../src/net/index.ts';
import { type PageAction, type PageFiles, PageServer, pageHandler } from '../../src/page/index.ts';
import { type Certificate, certificates } from './certificates.ts';

export const TOKEN = 'a-token-of-a-test-0123456789';

const STATUS: Route = {
  path: '/v1/status',
  about: 'a status',
  answer: () => objectAnswer('pointsman.status/v1', { mode: 'nftables' }),
};

export interface PageUnderTestOptions {
  readonly isSecure?: boolean;
  readonly routes?: readonly Route[];
  readonly allows?: readonly PageAction[];
  readonly token?: string;
  readonly clock?: Clock;
}

export interface PageCall {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** An address of 127.0.0.0/8 that the request comes from. */
  readonly from?: string;
  readonly ca?: string;
}

export interface PageReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server of the page in this process, at a loopback address: with TLS and a token, or without. */
export class PageUnderTest {
  readonly files: PageFiles;
  readonly urls: string[] = [];
  readonly errors: string[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), 'page-'));
  readonly #server: PageServer;
  readonly #isSecure: boolean;

  constructor({ isSecure = false, routes = [STATUS], allows = [], token = TOKEN, clock }: PageUnderTestOptions = {}) {
    this.#isSecure = isSecure;
    this.files = {
      certFile: join(this.#folder, 'tls.crt'),
      keyFile: join(this.#folder, 'tls.key'),
      tokenFile: join(this.#folder, 'token'),
    };
    if (isSecure) this.write(certificates().server, `${token}\n`);
    const report = ({ message }: Error) => void this.errors.push(message);
    this.#server = new PageServer({
      address: {
        ip: '127.0.0.1' as Ip,
        port: 0,
        mayUseOtherPort: false,
        files: isSecure ? this.files : undefined,
      },
      hostNames: ['node-a', 'Machine.Example'],
      handle: pageHandler({
        api: inspectionHandler({ routes }),
        info: { version: '1.2.3', allows, view: 'node', command: 'kube-proxy' },
        allowFlag: '--page-allow',
      }),
      hardFail: true,
      onListen: url => this.urls.push(url),
      onError: report,
      onFileError: report,
      clock,
    });
  }

  /** Writes the files as another program would do. */
  write({ cert, key }: Certificate, token: string): void {
    writeFileSync(this.files.certFile, cert);
    writeFileSync(this.files.keyFile, key);
    writeFileSync(this.files.tokenFile, token);
  }

  async open(): Promise<this> {
    await this.#server.start();
    return this;
  }

  get port(): number {
    return this.#server.port ?? 0;
  }

  call({ path = '/', method = 'GET', headers = {}, body, from, ca }: PageCall = {}): Promise<PageReply> {
    const options = { host: '127.0.0.1', port: this.port, path, method, headers, agent: false, localAddress: from };
    return new Promise((resolve, reject) => {
      const sent = this.#isSecure
        ? httpsRequest({ ...options, servername: 'localhost', ca: ca ?? certificates().ca.cert })
        : httpRequest(options);
      sent.on('error', reject);
      sent.on('response', response => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', part => {
          text += part;
        });
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
      });
      sent.end(body);
    });
  }

  close(): void {
    this.#server.close();
    rmSync(this.#folder, { recursive: true });
  }
}
