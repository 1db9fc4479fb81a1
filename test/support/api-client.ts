import {
  type ApiClientOptions,
  type ApiResponse,
  type ConfiguredApiClient,
  createApiClient,
  type RequestObservation,
} from '../../src/client/index.ts';
import { type Handler, TestServer, type TestServerOptions } from './api-server.ts';
import { certificates } from './certificates.ts';
import { base64, KubeconfigFolder } from './kubeconfig.ts';

export interface ClientCase {
  readonly client: ConfiguredApiClient;
  readonly server: TestServer;
  readonly folder: KubeconfigFolder;
  readonly observations: RequestObservation[];
  /** `message {"field":"value"}` */
  readonly logLines: string[];
  /** Sends a GET and returns the text of the answer. */
  get(path?: string): Promise<string>;
  /** Creates another client, with other options. */
  another(options: Partial<ApiClientOptions>): ConfiguredApiClient;
}

export interface ClientCaseOptions {
  readonly server?: TestServerOptions | TestServer;
  /** Fields of the kubeconfig's cluster that replace those for the test server. */
  readonly cluster?: object | ((server: TestServer) => object);
  readonly user?: object | ((folder: KubeconfigFolder) => object);
  readonly client?: Partial<ApiClientOptions>;
}

/** For tests: runs `act` with a client, its kubeconfig, and the server that the kubeconfig names. */
export async function withClient(
  handler: Handler,
  act: (parts: ClientCase) => Promise<void>,
  { server: given = {}, cluster, user = {}, client: options = {} }: ClientCaseOptions = {},
): Promise<void> {
  const server = given instanceof TestServer ? given : await TestServer.start(handler, given);
  const folder = new KubeconfigFolder();
  const observations: RequestObservation[] = [];
  const logLines: string[] = [];
  const clients: ConfiguredApiClient[] = [];
  const log = (_source: string, message: string, fields?: object) =>
    void logLines.push(`${message} ${JSON.stringify(fields ?? {})}`);
  const writeKubeconfig = () => {
    const ownCluster = { server: server.url(), 'certificate-authority-data': base64(certificates().ca.cert) };
    const merged = { ...ownCluster, ...(typeof cluster === 'function' ? cluster(server) : cluster) };
    return folder.kubeconfig(merged, typeof user === 'function' ? user(folder) : user);
  };
  const another = (more: Partial<ApiClientOptions>) => {
    const created = createApiClient({
      kubeconfig: more.kubeconfig ?? writeKubeconfig(),
      clientConnection: { acceptContentTypes: '', contentType: 'application/json', qps: -1, burst: 0 },
      env: {},
      random: () => 0,
      log: { info: log, warning: log, error: log },
      observe: observation => void observations.push(observation),
      ...options,
      ...more,
    });
    clients.push(created);
    return created;
  };
  try {
    const client = another({});
    const get = async (path = '/x') => bodyText(await client.request({ path, accept: 'application/json' }));
    await act({ client, server, folder, observations, logLines, get, another });
  } finally {
    for (const client of clients) client.close();
    await server.close();
    folder.close();
  }
}

export async function bodyText({ body }: ApiResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** Waits until the condition holds. For states that no event reports. */
export async function eventually(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    if (tries > 400) throw new Error('the condition never held');
    await new Promise(resolve => setTimeout(resolve, 5));
  }
}
