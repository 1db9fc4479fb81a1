import { NftablesSocket, type Transaction } from '../../kernel/nftables/index.ts';
import type { PreviewInput } from '../descriptor.ts';
import { SILENT_EVENTS } from '../mode.ts';
import { PlanBook } from '../plan-book.ts';
import { EMPTY_SNAPSHOT, type Snapshot, takeSnapshot } from './kernel-state/snapshot.ts';
import { RecordedTable } from './kernel-state/table-access.ts';
import { previewLocalhost } from './localhost/localhost-preview.ts';
import type { NftablesOptions } from './mode.ts';
import { type Layout, layoutOf } from './table/layout.ts';
import { NftablesWriter } from './writer.ts';

/** The transactions that a full write would commit, as nft scripts. */
export async function previewNftables(options: NftablesOptions, input: PreviewInput): Promise<string> {
  const { family, plans, settings } = input;
  const layout = layoutOf(family, options);
  const table = new RecordedTable(await snapshotOf(layout, input));
  const book = new PlanBook(family);
  book.take({ added: plans, updated: [], removed: [] });
  await new NftablesWriter(layout, settings, table, book, SILENT_EVENTS).write();
  const listeners = options.localhostNodePorts ? previewLocalhost(input) : '';
  return [...table.transactions.map(script), ...(listeners === '' ? [] : [listeners])].join('\n');
}

async function snapshotOf(layout: Layout, { against, namespace }: PreviewInput): Promise<Snapshot> {
  if (against === 'nothing') return EMPTY_SNAPSHOT;
  const socket = NftablesSocket.open({ namespace });
  try {
    return await takeSnapshot(socket, layout);
  } finally {
    socket.close();
  }
}

function script(transaction: Transaction): string {
  return `# one transaction of table ${transaction.family} ${transaction.table}\n${transaction}`;
}
