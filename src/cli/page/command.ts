import { DEFAULT_PAGE_ADDRESS, forwardTo, PAGE_ACTIONS, pageHandler, traceRoute } from '../../page/index.ts';
import { defineCommand } from '../command.ts';
import { addressPort, FlagError, type FlagValues, someOf, string } from '../flags/index.ts';
import { pageAddress } from '../page-address.ts';
import { proxySocket, SOCKET_FLAG } from '../proxy-socket.ts';
import { servedFromProxy, serviceFromProxy } from '../trace/known-service.ts';
import { VERSION } from '../version.ts';
import { withSignals } from '../with-signals.ts';
import { checkFleetFlags, FLEET_FLAGS, fleetPage } from './fleet.ts';
import { servePage } from './serve.ts';

const FLAGS = {
  'bind-address': {
    type: addressPort,
    default: DEFAULT_PAGE_ADDRESS,
    word: 'ADDRESS:PORT',
    usage: 'where to serve the page; port 0 is any free port',
  },
  allow: {
    type: someOf(PAGE_ACTIONS),
    default: [],
    word: 'ACTIONS',
    usage:
      'what the page may do besides reading: probe connects to endpoints, trace follows packets; with both it can send a packet',
    words: PAGE_ACTIONS,
  },
  'tls-cert-file': { type: string, default: '', word: 'FILE', usage: 'certificate of the page in PEM' },
  'tls-key-file': { type: string, default: '', word: 'FILE', usage: 'key of the certificate in PEM' },
  'token-file': { type: string, default: '', word: 'FILE', usage: 'token that the page asks for' },
  ...SOCKET_FLAG,
  ...FLEET_FLAGS,
};

export const pageCommand = defineCommand({
  name: 'page',
  summary: "serve the operator's page of the running proxy",
  about: `Serves the operator's page about the proxy of this node, and prints its URL. Open it in a browser: it shows all
Services, why each does what it does, and what the kernel has. It only reads. The page asks the running proxy at its
socket, so the command needs root. It goes on while the proxy restarts, and ends with Ctrl-C.

The default address is a loopback address, and another port if a program has this one. To see the page on your own
machine, run the command in the pod of the proxy with kubectl exec, forward its port with kubectl port-forward, and open
http://localhost:10280/. If the proxy itself serves the page (--page-bind-address), forwarding its port is enough.

Everyone who can reach another address could read the page. So any other address needs --tls-cert-file, --tls-key-file
and --token-file. The page then asks for the token. The command reads the files again when they change.

With --kubeconfig the page is about all nodes of a cluster, and compares a Service on them. The command asks the page of
each proxy through the API server. So the user of the kubeconfig needs the rights to list nodes and pods, and to get
pods/proxy. The proxies must serve their pages (--page-bind-address) at an address that the API server reaches, with TLS
and a token.

Exit status: 0 after Ctrl-C, and 2 if the page cannot be served or the command line is wrong.`,
  usage: 'page [flags]',
  examples: [
    { meaning: 'The page of this node', command: 'kube-proxy page' },
    { meaning: 'The same, and it may connect to endpoints', command: 'kube-proxy page --allow probe' },
    {
      meaning: 'From your machine: run it in the pod',
      command: 'kubectl -n kube-system exec -it POD -- kube-proxy page',
    },
    { meaning: 'and forward its port, in another terminal', command: 'kubectl -n kube-system port-forward POD 10280' },
    {
      meaning: 'All nodes of a cluster',
      command: 'kube-proxy page --kubeconfig ~/.kube/config --page-token-file TOKEN',
    },
  ],
  flags: FLAGS,
  errorStatus: 2,
  async run({ values, changed }, io) {
    const address = pageAddress(addressTexts(values), '--', !changed.has('bind-address'));
    const isFleet = values.kubeconfig !== '';
    checkFleetFlags(isFleet, changed);
    const { handle, close } = isFleet ? fleetPage(values) : nodePage(values);
    try {
      await withSignals(signal => servePage({ address, handle, io, signal }));
    } finally {
      close();
    }
    return 0;
  },
});

function addressTexts(values: FlagValues<typeof FLAGS>) {
  const { 'bind-address': address } = values;
  if (address === '') throw new FlagError('--bind-address must not be empty');
  return {
    address,
    certFile: values['tls-cert-file'],
    keyFile: values['tls-key-file'],
    tokenFile: values['token-file'],
  };
}

/** The page about the proxy of this node. */
function nodePage(values: FlagValues<typeof FLAGS>) {
  const proxy = proxySocket(values);
  const handle = pageHandler({
    api: forwardTo(proxy.open),
    info: { version: VERSION, allows: values.allow, view: 'node', command: 'kube-proxy' },
    allowFlag: '--allow',
    // A trace runs in this process, as that of the command does.
    routes: [traceRoute({ findService: serviceFromProxy(proxy), isServed: servedFromProxy(proxy) })],
  });
  return { handle, close: () => undefined };
}
