import { splitHostPort } from '../config/index.ts';
import { inspect, inspectionHandler, localOnly, type RunRecord, SocketKeeper } from '../inspect/index.ts';
import { networkNamespaceName } from '../kernel/netns.ts';
import { ReportOnce } from '../lib/report-once.ts';
import type { TrafficReader } from '../modes/index.ts';
import { parseIp } from '../net/index.ts';
import { ConnectionTable, type HttpHandler, RetryingHttpServer } from '../observe/http/index.ts';
import { servedFromPlans, serviceFromPlans, traceRoute } from '../page/index.ts';
import type { RunningProxy } from '../proxy/index.ts';
import { inspectedProxy } from './inspected-proxy.ts';
import { openPage } from './page.ts';
import type { RunParts } from './run.ts';

/** The inspection API needs far fewer. Its connections do not take the places of probers and scrapers. */
const MAX_CONNECTIONS = 64;

/** Opens the inspection API of the proxy, and the page that asks it. Never rejects: the proxy also works without it. */
export async function openInspection(
  parts: RunParts,
  proxy: RunningProxy,
  record: RunRecord,
  traffic: TrafficReader,
): Promise<void> {
  const { inspectSocket, inspectBindAddress, page } = parts.options;
  if (inspectSocket === '' && inspectBindAddress === '' && !page) return;
  const inspected = inspectedProxy(parts, proxy, record, traffic);
  const { routes, live } = inspect(inspected);
  parts.resources.add('live streams', () => live.close());
  const handle = inspectionHandler({ routes, networkNamespace: networkNamespaceName() });
  const connections = new ConnectionTable(MAX_CONNECTIONS);
  if (inspectSocket !== '') await openSocket(parts, handle, connections);
  if (inspectBindAddress !== '') await openTcp(parts, localOnly(handle), connections);
  if (page)
    await openPage(parts, page, handle, [
      traceRoute({ findService: serviceFromPlans(inspected), isServed: servedFromPlans(inspected) }),
    ]);
}

async function openSocket({ options, resources }: RunParts, handle: HttpHandler, connections: ConnectionTable) {
  const { log, inspectSocket: path } = options;
  const keeper = new SocketKeeper({
    path,
    handle,
    connections,
    opened: () => log.v(2, 'inspect', 'The inspection API listens', { socket: path }),
    inUse: () =>
      log.info('inspect', 'Another process listens at the socket of the inspection API; the proxy retries', {
        socket: path,
      }),
    failed: err =>
      log.warning('inspect', 'The inspection API has no socket; the proxy works without it', {
        err,
        socket: path,
        advice:
          'mount an emptyDir at the folder, name another path with --inspect-socket, or switch it off with --inspect-socket=',
      }),
  });
  resources.add('inspection socket', () => keeper.close());
  await keeper.start();
}

async function openTcp({ options, resources }: RunParts, handle: HttpHandler, connections: ConnectionTable) {
  const { log, inspectBindAddress: address } = options;
  const { host, port } = splitHostPort(address) ?? { host: '', port: '' };
  const ip = parseIp(host);
  // The command line has refused all other addresses.
  if (ip === undefined) return;
  const reported = new ReportOnce();
  const server = new RetryingHttpServer({
    ip,
    port: Number(port),
    handle,
    connections,
    hardFail: false,
    onError(err) {
      if (!reported.add(address, err.message)) return;
      log.warning('inspect', 'The inspection API cannot listen on its address; the proxy retries', { err, address });
    },
  });
  resources.add('inspection address', () => server.close());
  await server.start();
}
