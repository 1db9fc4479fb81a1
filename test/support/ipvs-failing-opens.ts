import { readdirSync } from 'node:fs';
import { NetworkNamespace } from '../../src/kernel/netns.ts';

/**
 * Lets the first socket fail that `open` opens in a namespace, then the second one, and so on until all succeed. Returns
 * how many sockets failed, and how many descriptors stayed open.
 */
export function descriptorsAfterFailures(open: (namespace: NetworkNamespace) => { close(): unknown }): {
  readonly failures: number;
  readonly left: number;
} {
  const namespace = NetworkNamespace.create();
  const run = namespace.run.bind(namespace);
  const before = descriptors();
  try {
    for (let failing = 1; ; failing++) {
      let opened = 0;
      namespace.run = work => {
        opened++;
        if (opened === failing) throw new Error(`no socket ${failing}`);
        return run(work);
      };
      const left = descriptors() - before;
      const owner = tryTo(() => open(namespace));
      owner?.close();
      if (owner) return { failures: failing - 1, left };
    }
  } finally {
    namespace.close();
  }
}

function descriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

function tryTo<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
