import { KernelError } from '../../kernel/errors.ts';
import { type Iptables, IptablesError } from '../../kernel/iptables/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { NfacctSocket } from '../../kernel/nfacct/index.ts';
import { PROBE_CHAIN } from './names.ts';
import { RestoreText } from './restore-text.ts';
import { COUNTER_NAMES, type CounterName } from './rule-options.ts';

/**
 * The nfacct counters that rules may name, made where they were missing. A rule that names one which is not there, or that
 * a kernel without xt_nfacct gets, would make the whole restore fail. `told` hears why one is missing.
 */
export async function ensureCounters(
  iptables: Iptables,
  namespace: NetworkNamespace | undefined,
  told: (what: string) => void,
): Promise<ReadonlySet<CounterName>> {
  const made = makeCounters(namespace, told);
  const [first] = made;
  if (first === undefined) return made;
  const refusal = await tryMatch(iptables, first);
  if (!refusal) return made;
  told(`the kernel does not take rules with nfacct counters, so there are none: ${refusal.message}`);
  return new Set();
}

function makeCounters(namespace: NetworkNamespace | undefined, told: (what: string) => void): ReadonlySet<CounterName> {
  const made = new Set<CounterName>();
  const attempt = (what: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
      told(`${what}: ${error.message}`);
    }
  };
  attempt('no nfacct counters', () => {
    const socket = NfacctSocket.open({ namespace });
    try {
      for (const name of COUNTER_NAMES) {
        attempt(`no nfacct counter ${name}`, () => {
          socket.ensure(name);
          made.add(name);
        });
      }
    } finally {
      socket.close();
    }
  });
  return made;
}

async function tryMatch(iptables: Iptables, name: CounterName): Promise<IptablesError | undefined> {
  const probe = new RestoreText();
  probe.table('filter').chain(PROBE_CHAIN);
  probe.table('filter').rule(`-A ${PROBE_CHAIN} -m nfacct --nfacct-name ${name}`);
  const removal = new RestoreText();
  removal.table('filter').chain(PROBE_CHAIN);
  removal.table('filter').rule(`-X ${PROBE_CHAIN}`);
  try {
    await iptables.restore(probe);
    await iptables.restore(removal);
    return undefined;
  } catch (error) {
    if (error instanceof IptablesError && error.isAboutRules) return error;
    throw error;
  }
}
