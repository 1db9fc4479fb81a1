import { readdirSync } from 'node:fs';
import { NetworkNamespace } from '../../src/kernel/netns.ts';

/**
 * For tests: lets the first socket that is opened in a namespace fail, then the second, and so on until none is left to
 * fail. Says how often that was and how many descriptors all this left open.
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
