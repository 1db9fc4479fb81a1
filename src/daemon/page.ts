import { hostname } from 'node:os';
import type { Route } from '../inspect/index.ts';
import { ReportOnce } from '../lib/report-once.ts';
import { joinHostPort } from '../net/index.ts';
import type { HttpHandler } from '../observe/http/index.ts';
import { PageServer, pageHandler } from '../page/index.ts';
import type { PageOptions } from './options.ts';
import type { RunParts } from './run.ts';

/** Opens the operator's page. Never rejects: the proxy also works without it. */
export async function openPage(
  parts: RunParts,
  page: PageOptions,
  api: HttpHandler,
  routes: readonly Route[],
): Promise<void> {
  const { options, resources, nodeName } = parts;
  const { log, version } = options;
  const { address, allows } = page;
  const reported = new ReportOnce();
  const report = (message: string) => (err: Error) => {
    if (!reported.add(message, err.message)) return;
    log.warning('page', message, { err, address: joinHostPort(address.ip, address.port) });
  };
  const server = new PageServer({
    address,
    hostNames: [nodeName, hostname()],
    handle: pageHandler({
      api,
      info: { version, allows, view: 'node', command: 'kube-proxy' },
      allowFlag: '--page-allow',
      routes,
    }),
    hardFail: false,
    onListen: url => log.info('page', "The operator's page listens", { url }),
    onError: report('The page is not served; the proxy retries'),
    onFileError: report('The page cannot use its new files; it keeps its former certificate and token'),
  });
  resources.add('page', () => server.close());
  await server.start();
}
