import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Stands between the browser and the page, and replaces names in all answers of the API. Kubernetes and the proxy refuse
 * such names, but the page must not rely on that.
 */
export class RenamingServer {
  readonly #target: URL;
  readonly #names: readonly (readonly [from: string, to: string])[];
  readonly #server: Server;

  private constructor(url: string, names: Readonly<Record<string, string>>) {
    this.#target = new URL(url);
    this.#names = Object.entries(names);
    this.#server = createServer((asked, answer) => this.#relay(asked, answer));
  }

  static async open(url: string, names: Readonly<Record<string, string>>): Promise<RenamingServer> {
    const server = new RenamingServer(url, names);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #relay(asked: IncomingMessage, answer: ServerResponse): void {
    const { hostname, port } = this.#target;
    const path = this.#realPath(asked.url ?? '/');
    const forwarded = request({ hostname, port, path, method: asked.method, headers: { accept: '*/*' } }, real => {
      const { 'content-length': _, ...headers } = real.headers;
      answer.writeHead(real.statusCode ?? 502, headers);
      if (!path.startsWith('/v1/')) {
        real.pipe(answer);
        return;
      }
      this.#rename(real, answer);
    });
    forwarded.on('error', () => answer.destroy());
    answer.on('close', () => forwarded.destroy());
    asked.pipe(forwarded);
  }

  /** The path that asks the real proxy for the real name. */
  #realPath(path: string): string {
    const url = new URL(path, this.#target);
    for (const [name, value] of [...url.searchParams]) {
      url.searchParams.set(
        name,
        this.#names.reduce((text, [from, to]) => text.replaceAll(to, from), value),
      );
    }
    return `${url.pathname}${url.search}`;
  }

  /** Every answer is lines, and no name is longer than a line. */
  #rename(real: IncomingMessage, answer: ServerResponse): void {
    let rest = '';
    const renamed = (text: string) =>
      this.#names.reduce((result, [from, to]) => result.replaceAll(from, JSON.stringify(to).slice(1, -1)), text);
    real.setEncoding('utf8').on('data', (text: string) => {
      const end = (rest + text).lastIndexOf('\n') + 1;
      const all = rest + text;
      answer.write(renamed(all.slice(0, end)));
      rest = all.slice(end);
    });
    real.on('end', () => answer.end(renamed(rest)));
    real.on('error', () => answer.destroy());
  }
}
