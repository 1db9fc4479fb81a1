import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { createNodeNamespace, NODE_IP } from '../support/namespaces.ts';
import { Etcd } from './etcd.ts';
import { HttpClient } from './http-client.ts';
import { type Answer, type KubeObject, Objects } from './objects.ts';
import { Program } from './program.ts';
import { proxyConfigurationText } from './proxy-configuration.ts';
import { APISERVER_PORT, apiserverCommand, READY_MS, READY_POLL_MS } from './server-commands.ts';
import { kubeconfigText, tokenOf, type User } from './users.ts';

export interface ControlPlaneOptions {
  /** The namespace that it runs in. It must have NODE_IP, as the node of a playground has. The default is a new one. */
  readonly namespace?: NetworkNamespace | undefined;
  /** More flags for the API server. They override the usual flags. */
  readonly apiserverArgs?: readonly string[] | undefined;
}

export interface ProxyOptions {
  readonly user?: User | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly args?: readonly string[] | undefined;
  /** The default is our own program. */
  readonly command?: readonly string[] | undefined;
}

/**
 * A real etcd and a real API server in the network namespace of a node. Other namespaces can reach the API server at
 * NODE_IP. All its programs end with `close`, or with this process.
 */
export class ControlPlane {
  readonly namespace: NetworkNamespace;
  readonly #ownsNamespace: boolean;
  readonly #folder = mkdtempSync(join(tmpdir(), 'control-plane-'));
  readonly #programs: Program[] = [];
  readonly #objects = new Objects((method, path, body) => this.request(method, path, body));
  readonly #apiserverArgs: readonly string[];
  #etcd: Etcd | undefined;
  #apiserverCommand: readonly string[] = [];
  #apiserver: Program | undefined;
  #api: HttpClient | undefined;
  #files = 0;
  #isClosed = false;

  private constructor({ namespace, apiserverArgs = [] }: ControlPlaneOptions) {
    this.namespace = namespace ?? createNodeNamespace();
    this.#ownsNamespace = namespace === undefined;
    this.#apiserverArgs = apiserverArgs;
  }

  /** Resolves when Services can be created. */
  static async start(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
    const controlPlane = new ControlPlane(options);
    try {
      await controlPlane.#start();
      return controlPlane;
    } catch (error) {
      await controlPlane.close();
      throw error;
    }
  }

  get server(): string {
    return `https://${NODE_IP}:${APISERVER_PORT}`;
  }

  /** The CA that signed the server's certificate. It is the last certificate in the file that the server wrote. */
  get ca(): string {
    const bundle = readFileSync(`${this.#folder}/certificates/apiserver.crt`, 'utf8');
    return bundle.slice(bundle.lastIndexOf('-----BEGIN CERTIFICATE-----'));
  }

  get apiserver(): Program {
    if (!this.#apiserver) throw new Error('the API server is stopped');
    return this.#apiserver;
  }

  /** Undefined while the API server is stopped. */
  get apiserverPid(): number | undefined {
    return this.#apiserver?.pid;
  }

  get etcd(): Etcd {
    if (!this.#etcd) throw new Error('etcd was not started');
    return this.#etcd;
  }

  /** Writes a kubeconfig file and returns its path. */
  kubeconfig(user: User): string {
    return this.#write(`${user}.kubeconfig`, kubeconfigText(user, this.server, this.ca));
  }

  request(method: string, path: string, body?: unknown, contentType?: string): Promise<Answer> {
    return this.requestAs('admin', method, path, body, contentType);
  }

  async requestAs(
    user: User,
    method: string,
    path: string,
    body?: unknown,
    contentType = 'application/json',
  ): Promise<Answer> {
    this.#api ??= new HttpClient({ namespace: this.namespace, ip: NODE_IP, port: APISERVER_PORT, ca: this.ca });
    const headers = { authorization: `Bearer ${tokenOf(user)}`, 'content-type': contentType };
    const { status, text } = await this.#api.request({ method, path, headers, body: bodyText(body) });
    return { status, json: parseJson(text) };
  }

  /** Creates or replaces the object, and writes its status if it has one. */
  apply(object: KubeObject): Promise<KubeObject> {
    return this.#objects.apply(object);
  }

  read(object: KubeObject): Promise<KubeObject | undefined> {
    return this.#objects.read(object);
  }

  delete(object: KubeObject): Promise<void> {
    return this.#objects.delete(object);
  }

  /** With SIGTERM the server ends its connections in an orderly way. With SIGKILL the connections just break. */
  async stopApiserver(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const { apiserver } = this;
    this.#apiserver = undefined;
    await apiserver.stop(signal);
    this.#disconnect();
  }

  /** The server has the same port, certificate and data as before. */
  async startApiserver(): Promise<void> {
    const apiserver = this.#run('kube-apiserver', this.#apiserverCommand);
    this.#apiserver = apiserver;
    const answers = async (path: string) => (await this.request('GET', path)).status === 200;
    // The server creates this Service when it can allocate cluster IPs. /readyz does not wait for that.
    const isReady = async () => (await answers('/readyz')) && answers('/api/v1/namespaces/default/services/kubernetes');
    await apiserver.waitFor('become ready', isReady, READY_MS, READY_POLL_MS);
  }

  /** The connections stay open, but the server does not answer. */
  async pauseApiserver(): Promise<void> {
    await this.apiserver.pause();
  }

  resumeApiserver(): void {
    this.apiserver.signal('SIGCONT');
  }

  /**
   * Makes etcd forget all versions except the current one, and returns that version. The API server still answers from
   * its own memory of the versions since its start, unless it runs with --watch-cache=false.
   */
  async compact(): Promise<string> {
    return this.etcd.compact();
  }

  /** Runs a proxy on the node with a configuration file. */
  startProxy(configuration: Readonly<Record<string, unknown>> = {}, options: ProxyOptions = {}): Program {
    const { user = 'proxy', env, args = [], command = [process.execPath, 'build/kube-proxy.mjs'] } = options;
    const text = proxyConfigurationText(this.kubeconfig(user), configuration);
    const path = this.#write(`proxy-${++this.#files}.yaml`, text);
    return this.#run('kube-proxy', [...command, '--config', path, ...args], env);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await Promise.all(this.#programs.map(program => program.stop('SIGKILL')));
    this.#disconnect();
    await this.#etcd?.close();
    if (this.#ownsNamespace) this.namespace.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #disconnect(): void {
    this.#api?.close();
    this.#api = undefined;
  }

  async #start(): Promise<void> {
    this.#etcd = new Etcd(this.namespace, this.#folder);
    await this.#etcd.ready();
    this.#apiserverCommand = apiserverCommand(this.#folder, this.#apiserverArgs);
    await this.startApiserver();
  }

  #run(name: string, command: readonly string[], env?: Readonly<Record<string, string>>): Program {
    const program = new Program(name, command, { namespace: this.namespace, env });
    this.#programs.push(program);
    return program;
  }

  #write(name: string, text: string): string {
    const path = join(this.#folder, name);
    writeFileSync(path, text);
    return path;
  }
}

function bodyText(body: unknown): string | undefined {
  return typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
