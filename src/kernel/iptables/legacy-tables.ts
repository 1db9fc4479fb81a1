import { readFileSync } from 'node:fs';
import type { NetworkNamespace } from '../netns.ts';
import type { IptablesFamily } from './arguments.ts';

/** The files of the namespace that the thread is in. */
const FILES: Readonly<Record<IptablesFamily, string>> = {
  ip: '/proc/thread-self/net/ip_tables_names',
  ip6: '/proc/thread-self/net/ip6_tables_names',
};

/**
 * The tables that iptables-legacy has in the namespace: `nat`, `filter`. A table stays in the list after its last rule
 * is gone. Starts no program, and loads no module.
 */
export function legacyTables(family: IptablesFamily, namespace?: NetworkNamespace): readonly string[] {
  const read = () => readNames(FILES[family]);
  return namespace ? namespace.run(read) : read();
}

function readNames(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean);
  } catch {
    // The kernel has no ip_tables, or this process may not read its tables.
    return [];
  }
}
