/** How to reach an API server, and as whom: what a kubeconfig, flags or a pod's environment say. */
export interface ClientConfig {
  /** With a path if the server is behind one. */
  readonly server: URL;
  /** Where this was said, for messages: `the kubeconfig /etc/x`. */
  readonly origin: string;
  readonly tls: TlsConfig;
  readonly proxyUrl?: string | undefined;
  readonly disableCompression: boolean;
  readonly user: UserConfig;
}

export interface TlsConfig {
  readonly ca?: Pem | undefined;
  readonly insecure: boolean;
  /** Instead of the name in the URL. */
  readonly serverName?: string | undefined;
}

/** PEM text, or the file that holds it and may change. `field` is how the configuration calls it. */
export type Pem =
  | { readonly kind: 'data'; readonly pem: string; readonly field: string }
  | { readonly kind: 'file'; readonly path: string; readonly field: string };

export interface UserConfig {
  readonly token?: string | undefined;
  /** Goes before `token` once it was read. */
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

/** A program that gives credentials. */
export interface ExecConfig {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly interactiveMode: InteractiveMode;
  readonly installHint: string;
  /** What the program is told of the cluster, if it wants to know. */
  readonly cluster?: Readonly<Record<string, unknown>> | undefined;
}

export const ANONYMOUS: UserConfig = {};
