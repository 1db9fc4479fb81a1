import { readFileSync } from 'node:fs';
import type { NetworkNamespace } from '../netns.ts';
import { tryRead } from '../processes.ts';
import type { IptablesFamily } from './arguments.ts';

const FILES: Readonly<Record<IptablesFamily, string>> = { ip: 'ip_tables_names', ip6: 'ip6_tables_names' };

/**
 * The tables of the legacy backend that exist in the namespace. To ask the legacy programs would create tables. Empty if
 * the kernel lacks the backend.
 */
export function legacyTables(family: IptablesFamily, namespace?: NetworkNamespace): readonly string[] {
  const read = () => tryRead(() => readFileSync(`/proc/thread-self/net/${FILES[family]}`, 'utf8'));
  const text = namespace ? namespace.run(read) : read();
  return (text ?? '').split('\n').filter(name => name !== '');
}
