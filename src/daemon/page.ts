import { splitHostPort } from '../config/index.ts';
import { localOnly, type Route } from '../inspect/index.ts';
import { ReportOnce } from '../lib/report-once.ts';
import { parseIp } from '../net/index.ts';
import { ConnectionTable, type HttpHandler, RetryingHttpServer } from '../observe/http/index.ts';
import { type PageInfo, pageHandler } from '../page/index.ts';
import type { DaemonOptions } from './options.ts';
import type { RunParts } from './run.ts';

const MAX_CONNECTIONS = 64;

/** Opens the operator's page. Never rejects: the proxy also works without it. */
export async function openPage(
  { options, resources }: RunParts,
  api: HttpHandler,
  routes: readonly Route[],
): Promise<void> {
  const { log, pageBindAddress: address } = options;
  const { host, port } = splitHostPort(address) ?? { host: '', port: '' };
  const ip = parseIp(host);
  // The command line has refused all other addresses.
  if (ip === undefined) return;
  const reported = new ReportOnce();
  const server = new RetryingHttpServer({
    ip,
    port: Number(port),
    handle: localOnly(pageHandler({ api, info: pageInfo(options), allowFlag: '--page-allow', routes })),
    connections: new ConnectionTable(MAX_CONNECTIONS),
    hardFail: false,
    onError(err) {
      if (!reported.add(address, err.message)) return;
      log.warning('page', 'The page cannot listen on its address; the proxy retries', { err, address });
    },
  });
  resources.add('page', () => server.close());
  await server.start();
  log.info('page', "The operator's page listens", { url: `http://${address}/` });
}

function pageInfo({ version }: DaemonOptions): PageInfo {
  return { version, allows: [], view: 'node', command: 'kube-proxy' };
}
