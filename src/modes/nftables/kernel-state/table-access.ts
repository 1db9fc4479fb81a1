import type { Commit, NftablesSocket, SetOrMap, Transaction } from '../../../kernel/nftables/index.ts';
import type { Layout } from '../table/layout.ts';
import { EMPTY_SNAPSHOT, listElements, type Snapshot, takeSnapshot } from './snapshot.ts';
import { kernelLookups, NO_LOOKUPS, type TableLookups } from './table-lookups.ts';

/** How a writer reads and changes the table of one family. */
export interface TableAccess {
  /** The generation of the whole ruleset. It changes with every transaction of any program. */
  generation(): number;
  snapshot(): Promise<Snapshot>;
  /** The elements of some sets, which must exist. */
  elements(sets: Iterable<SetOrMap>): Promise<Snapshot['elements']>;
  commit(transaction: Transaction): Promise<Commit>;
  readonly lookups: TableLookups;
}

/** The kernel's table. */
export function kernelTable(
  socket: NftablesSocket,
  layout: Layout,
  commit: (transaction: Transaction) => Promise<Commit>,
): TableAccess {
  return {
    generation: () => socket.generation(),
    snapshot: () => takeSnapshot(socket, layout),
    elements: sets => listElements(socket, layout, sets),
    commit,
    lookups: kernelLookups(socket, layout),
  };
}

/** A table that keeps what would be sent to the kernel, and sends nothing. */
export class RecordedTable implements TableAccess {
  readonly transactions: Transaction[] = [];
  readonly lookups = NO_LOOKUPS;
  readonly #snapshot: Snapshot;

  /** `snapshot`: what the table has at first. */
  constructor(snapshot: Snapshot = EMPTY_SNAPSHOT) {
    this.#snapshot = snapshot;
  }

  generation(): number {
    return 0;
  }

  async snapshot(): Promise<Snapshot> {
    return this.#snapshot;
  }

  async elements(): Promise<Snapshot['elements']> {
    return this.#snapshot.elements;
  }

  async commit(transaction: Transaction): Promise<Commit> {
    this.transactions.push(transaction);
    return { generation: 0 };
  }
}
