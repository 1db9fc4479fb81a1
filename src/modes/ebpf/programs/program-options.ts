/** What the programs of a generation can do. A program has no part, and names no map, that its generation lacks. */
export interface ProgramOptions {
  /** The cookie of the node's own network namespace. */
  readonly nodeCookie: bigint;
  /** Whose sockets are translated. `listed`: those of the namespaces in the map `namespaces`. */
  readonly scope: 'all' | 'node' | 'listed';
  readonly hasAffinity: boolean;
  readonly hasLeastConnections: boolean;
  /** The id of the map `active4`. A socket whose record has another id is in no count any more. The default is 1. */
  readonly countedBy?: number | undefined;
  readonly countsConnections: boolean;
  /** Whether the kernel has `bpf_set_retval` (Linux 5.18). Without it the network refuses. */
  readonly canRefuse: boolean;
}
