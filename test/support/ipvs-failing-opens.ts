import { readdirSync } from 'node:fs';
import { NetworkNamespace } from '../../src/kernel/netns.ts';

/**
 * Calls `open` again and again. In the first call the first socket of the namespace fails to open, in the second call
 * the second, and so on, until `open` succeeds. Returns how many calls failed, and how many descriptors they left open.
 */
export function descriptorsAfterFailures(open: (namespace: NetworkNamespace) => { close(): unknown }): {
  readonly failures: number;
  readonly left: number;
} {
  const namespace = NetworkNamespace.create();
  const run = namespace.run.bind(namespace);
  const before = descriptorCount();
  try {
    for (let failing = 1; ; failing++) {
      let opened = 0;
      namespace.run = work => {
        opened++;
        if (opened === failing) throw new Error(`no socket ${failing}`);
        return run(work);
      };
      const left = descriptorCount() - before;
      const owner = tryTo(() => open(namespace));
      owner?.close();
      if (owner) return { failures: failing - 1, left };
    }
  } finally {
    namespace.close();
  }
}

function descriptorCount(): number {
  return readdirSync('/proc/self/fd').length;
}

function tryTo<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
