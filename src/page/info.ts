export const PAGE_SCHEMA = 'pointsman.page/v1';

/** What the page may do where it is served. `/v1/page` */
export interface PageInfo {
  /** The version of Pointsman that serves the page. */
  readonly version: string;
  /** What the operator allowed beside reading. */
  readonly allows: readonly PageAction[];
  /** One node, or the nodes of a cluster. */
  readonly view: 'node' | 'fleet';
  /** How to run a command at the proxy, such as `kubectl -n kube-system exec kube-proxy-x -- kube-proxy`. */
  readonly command: string;
}

/** probe: connect to endpoints. trace: follow packets through the kernel's rules. Both: also send a packet to follow. */
export type PageAction = 'probe' | 'trace';

export const PAGE_ACTIONS: readonly PageAction[] = ['probe', 'trace'];
