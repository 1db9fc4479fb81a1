/** How to reach an API server, and as which user: from a kubeconfig, from flags, or from a pod's environment. */
export interface ClientConfig {
  /** Has a path if the API server is behind one. */
  readonly server: URL;
  /** Where this configuration comes from, for messages: `the kubeconfig /etc/x`. */
  readonly origin: string;
  readonly tls: TlsConfig;
  readonly proxyUrl?: string | undefined;
  readonly disableCompression: boolean;
  readonly user: UserConfig;
}

export interface TlsConfig {
  readonly ca?: Pem | undefined;
  readonly insecure: boolean;
  /** The name in the server's certificate, if it is not the host of the URL. */
  readonly serverName?: string | undefined;
}

/** PEM text, or a file that contains it and may change. `field` is its name in the configuration, for messages. */
export type Pem =
  | { readonly kind: 'data'; readonly pem: string; readonly field: string }
  | { readonly kind: 'file'; readonly path: string; readonly field: string };

/** The name of the field, and the path if it is a file. */
export function pemName(pem: Pem): string {
  return pem.kind === 'file' ? `${pem.field} ${pem.path}` : pem.field;
}

export interface UserConfig {
  readonly token?: string | undefined;
  /** Replaces `token` as soon as the client could read the file. */
  readonly tokenFile?: string | undefined;
  readonly basic?: { readonly username: string; readonly password: string } | undefined;
  readonly certificate?: { readonly certificate: Pem; readonly key: Pem } | undefined;
  readonly exec?: ExecConfig | undefined;
  readonly impersonate?: Impersonation | undefined;
}

export interface Impersonation {
  readonly user: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

export type InteractiveMode = 'Never' | 'IfAvailable' | 'Always';

/** A credential plugin: a program that prints a credential. */
export interface ExecConfig {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly interactiveMode: InteractiveMode;
  readonly installHint: string;
  /** The description of the cluster for the plugin, if `provideClusterInfo` is true. */
  readonly cluster?: Readonly<Record<string, unknown>> | undefined;
}

export const ANONYMOUS: UserConfig = {};

/** Environment variables. */
export interface Environment {
  readonly [name: string]: string | undefined;
}
