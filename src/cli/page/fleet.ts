import { readFile } from 'node:fs/promises';
import { createApiClient } from '../../client/index.ts';
import { defaultConfiguration } from '../../config/index.ts';
import { errorAnswer } from '../../inspect/index.ts';
import { rememberSecret } from '../../lib/secrets.ts';
import { fleetRoutes, type PageServerOptions, pageHandler } from '../../page/index.ts';
import { FlagError, type FlagValues, int32, string } from '../flags/index.ts';
import { VERSION } from '../version.ts';
import { fleetClient } from './fleet-client.ts';

export const FLEET_FLAGS = {
  kubeconfig: {
    type: string,
    default: '',
    word: 'FILE',
    usage: 'show all nodes of the cluster that this kubeconfig file names, instead of this node',
  },
  context: {
    type: string,
    default: '',
    word: 'NAME',
    usage: 'context of the kubeconfig file (default: its current context)',
  },
  namespace: { type: string, default: 'kube-system', word: 'NAME', usage: "namespace of the proxies' pods" },
  selector: { type: string, default: 'k8s-app=kube-proxy', word: 'LABELS', usage: "labels of the proxies' pods" },
  'page-port': {
    type: int32,
    default: 0,
    word: 'PORT',
    usage: "port of the nodes' pages (default: that of --page-bind-address in the pods)",
  },
  'page-token-file': { type: string, default: '', word: 'FILE', usage: "token of the nodes' pages" },
};

/** The rate of kubectl, because a fleet has many nodes. */
const RATE = { qps: 50, burst: 300 };

export interface FleetPage {
  readonly handle: PageServerOptions['handle'];
  close(): void;
}

/** The flags that mean something only with `--kubeconfig`, and those that mean something only without. */
const FLEET_ONLY = ['context', 'namespace', 'selector', 'page-port', 'page-token-file'];
const NODE_ONLY = ['allow', 'inspect-socket'];

/** Throws a FlagError if flags of the fleet and of one node are mixed. */
export function checkFleetFlags(isFleet: boolean, changed: ReadonlySet<string>): void {
  const wrong = (isFleet ? NODE_ONLY : FLEET_ONLY).find(name => changed.has(name));
  if (wrong === undefined) return;
  throw new FlagError(isFleet ? `--${wrong} is for the page of one node` : `--${wrong} also needs --kubeconfig`);
}

/** The page about all nodes of a cluster. Throws an ApiError if the kubeconfig cannot be used. */
export function fleetPage(values: FlagValues<typeof FLEET_FLAGS>): FleetPage {
  const { clientConnection } = defaultConfiguration();
  const { kubeconfig, context, namespace, selector, 'page-port': port, 'page-token-file': tokenFile } = values;
  const client = createApiClient({ kubeconfig, context, clientConnection: { ...clientConnection, ...RATE } });
  const routes = fleetRoutes({
    client: fleetClient(client),
    namespace,
    selector,
    // A page that other machines reach always has TLS.
    page: port === 0 ? undefined : { scheme: 'https', port },
    token: async () => (tokenFile === '' ? undefined : await readToken(tokenFile)),
  });
  const handle = pageHandler({
    api: ({ path }) => errorAnswer(404, `the page of a fleet has no path ${JSON.stringify(path)}`),
    info: { version: VERSION, allows: [], view: 'fleet', command: 'kube-proxy' },
    allowFlag: '--allow',
    routes,
  });
  return { handle, close: () => client.close() };
}

/** The file may change while the command runs. */
async function readToken(path: string): Promise<string> {
  const token = (await readFile(path, 'utf8')).trim();
  rememberSecret(token);
  return token;
}
