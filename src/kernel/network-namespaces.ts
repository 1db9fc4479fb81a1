import { readdirSync, statSync } from 'node:fs';
import type { Ip } from '../net/index.ts';
import type { NetworkNamespace } from './netns.ts';
import { tryRead } from './processes.ts';
import { RouteSocket } from './rtnetlink/index.ts';

/** Where container runtimes keep network namespaces open. `/var/run` is usually a link to `/run`. */
const NAMESPACE_FOLDERS = ['/run/netns', '/var/run/netns'];

/**
 * Paths of the network namespaces that this process can see: those of processes, and those that a container runtime keeps
 * open. One namespace may have several paths.
 */
export function* networkNamespacePaths(): Generator<string> {
  for (const folder of NAMESPACE_FOLDERS) {
    for (const name of tryRead(() => readdirSync(folder)) ?? []) yield `${folder}/${name}`;
  }
  for (const name of tryRead(() => readdirSync('/proc')) ?? []) if (/^\d+$/.test(name)) yield `/proc/${name}/ns/net`;
}

/** Each namespace once, without `home`. A path that this process must not open, or that vanished, is left out. */
export function* distinctNamespacePaths(
  home: NetworkNamespace | undefined,
  paths: Iterable<string> = networkNamespacePaths(),
): Generator<string> {
  const seen = new Set([namespaceId(home?.path ?? '/proc/self/ns/net')]);
  for (const path of paths) {
    const id = namespaceId(path);
    if (id === undefined || seen.has(id)) continue;
    seen.add(id);
    yield path;
  }
}

function namespaceId(path: string): bigint | undefined {
  return tryRead(() => statSync(path, { bigint: true }).ino);
}

/** The addresses of a network namespace. The default is the namespace of this thread. */
export function namespaceAddresses(namespace: NetworkNamespace | undefined): ReadonlySet<Ip> {
  const socket = RouteSocket.open({ namespace });
  try {
    return new Set(socket.addresses().map(({ ip }) => ip));
  } finally {
    socket.close();
  }
}
