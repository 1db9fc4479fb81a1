import { configurationObject, splitHostPort } from '../config/index.ts';
import type { Facts } from '../explain/index.ts';
import {
  type ConfigurationAnswer,
  configurationRoute,
  historyRoute,
  inspectionHandler,
  localOnly,
  logRoute,
  metricsRoute,
  problemsRoute,
  type Route,
  SocketKeeper,
  servicesRoute,
  statusRoute,
} from '../inspect/index.ts';
import { networkNamespaceName } from '../kernel/netns.ts';
import { ReportOnce } from '../lib/report-once.ts';
import { withoutUrlCredentials } from '../lib/secrets.ts';
import { parseIp } from '../net/index.ts';
import { ConnectionTable, type HttpHandler, RetryingHttpServer } from '../observe/http/index.ts';
import { modeSettings, type RunningProxy } from '../proxy/index.ts';
import { proxyStatus } from './proxy-status.ts';
import type { RunParts } from './run.ts';
import type { RunRecord } from './run-record.ts';

/** The inspection API needs far fewer. Its connections do not take the places of probers and scrapers. */
const MAX_CONNECTIONS = 64;

/** Opens the inspection API of the proxy. Never rejects: the proxy also works without it. */
export async function openInspection(parts: RunParts, proxy: RunningProxy, record: RunRecord): Promise<void> {
  const { inspectSocket, inspectBindAddress } = parts.options;
  if (inspectSocket === '' && inspectBindAddress === '') return;
  const handle = inspectionHandler({
    routes: routesOf(parts, proxy, record),
    networkNamespace: networkNamespaceName(),
  });
  const connections = new ConnectionTable(MAX_CONNECTIONS);
  if (inspectSocket !== '') await openSocket(parts, handle, connections);
  if (inspectBindAddress !== '') await openTcp(parts, localOnly(handle), connections);
}

function routesOf(parts: RunParts, proxy: RunningProxy, record: RunRecord): readonly Route[] {
  const { options, observability } = parts;
  const facts = () => factsOf(parts, proxy);
  return [
    statusRoute(() => proxyStatus(parts, proxy, record)),
    problemsRoute(facts),
    servicesRoute({
      facts,
      history: observability.history,
      connectionCounts: async () => await proxy.mode.connectionCounts?.(),
    }),
    historyRoute({ history: observability.history, nodeName: parts.nodeName, objects: parts.objects.lookup }),
    configurationRoute(() => configurationAnswer(parts)),
    logRoute(() => options.logControl.recentLines()),
    metricsRoute(() => observability.metrics.text()),
  ];
}

/** What an explanation is made from, without copies of it. */
function factsOf({ objects, observability, nodeName, mode, families }: RunParts, proxy: RunningProxy): Facts {
  const { loop, live } = proxy;
  const { state } = loop;
  const readBack = proxy.mode.readBack?.bind(proxy.mode);
  return {
    origin: 'proxy',
    nodeName,
    families,
    state,
    mode,
    settings: family => modeSettings(state, family, live),
    get interfaceIPs() {
      return live.interfaceIPs();
    },
    objects: objects.lookup,
    get problems() {
      return observability.input.all;
    },
    get setAside() {
      return proxy.mode.setAside();
    },
    isPending: loop.isPending,
    get watches() {
      return objects.watches();
    },
    kernel: readBack && { readBack },
  };
}

function configurationAnswer({ options, observability }: RunParts): ConfigurationAnswer {
  const flags = options.flags().map(({ name, value }) => [name, withoutUrlCredentials(value)] as const);
  return {
    configuration: configurationObject(observability.configuration()),
    file: options.configFile,
    flags: Object.fromEntries(flags),
  };
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
