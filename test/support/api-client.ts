import {
  type ApiClientOptions,
  type ApiResponse,
  type ConfiguredApiClient,
  createApiClient,
  type Observation,
} from '../../src/client/index.ts';
import { type Handler, TestServer, type TestServerOptions } from './api-server.ts';
import { certificates } from './certificates.ts';
import { base64, KubeconfigFolder } from './kubeconfig.ts';

export interface ClientCase {
  readonly client: ConfiguredApiClient;
  readonly server: TestServer;
  readonly folder: KubeconfigFolder;
  readonly observations: Observation[];
  readonly told: string[];
  /** The text of an answer to GET. */
  get(path?: string): Promise<string>;
  /** Another client with other options. */
  another(options: Partial<ApiClientOptions>): ConfiguredApiClient;
}

export interface ClientCaseOptions {
  readonly server?: TestServerOptions | TestServer;
  /** Of the kubeconfig, before the test server's own. */
  readonly cluster?: object | ((server: TestServer) => object);
  readonly user?: object | ((folder: KubeconfigFolder) => object);
  readonly client?: Partial<ApiClientOptions>;
}

/** For tests: a client with a kubeconfig, and the server that it names. */
export async function withClient(
  handler: Handler,
  act: (parts: ClientCase) => Promise<void>,
  { server: given = {}, cluster, user = {}, client: options = {} }: ClientCaseOptions = {},
): Promise<void> {
  const server = given instanceof TestServer ? given : await TestServer.start(handler, given);
  const folder = new KubeconfigFolder();
  const observations: Observation[] = [];
  const told: string[] = [];
  const clients: ConfiguredApiClient[] = [];
  const tell = (message: string, fields?: object) => void told.push(`${message} ${JSON.stringify(fields ?? {})}`);
  const ownKubeconfig = () => {
    const trusted = { server: server.url(), 'certificate-authority-data': base64(certificates().ca.cert) };
    const own = { ...trusted, ...(typeof cluster === 'function' ? cluster(server) : cluster) };
    return folder.kubeconfig(own, typeof user === 'function' ? user(folder) : user);
  };
  const another = (more: Partial<ApiClientOptions>) => {
    const made = createApiClient({
      kubeconfig: more.kubeconfig ?? ownKubeconfig(),
      clientConnection: { acceptContentTypes: '', contentType: 'application/json', qps: -1, burst: 0 },
      env: {},
      log: { info: tell, warning: tell, error: tell },
      observe: observation => void observations.push(observation),
      ...options,
      ...more,
    });
    clients.push(made);
    return made;
  };
  try {
    const client = another({});
    const get = async (path = '/x') => bodyText(await client.request({ path, accept: 'application/json' }));
    await act({ client, server, folder, observations, told, get, another });
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

/** Tries until the condition holds, for what no event tells. */
export async function eventually(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    if (tries > 400) throw new Error('it never happened');
    await new Promise(resolve => setTimeout(resolve, 5));
  }
}
