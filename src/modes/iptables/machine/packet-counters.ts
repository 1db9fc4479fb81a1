import { KernelError } from '../../../kernel/errors.ts';
import { type Iptables, IptablesError } from '../../../kernel/iptables/index.ts';
import type { NetworkNamespace } from '../../../kernel/netns.ts';
import { NfacctSocket } from '../../../kernel/nfacct/index.ts';
import { PROBE_CHAIN } from '../names.ts';
import { RestoreText } from '../rules/restore-text.ts';
import { COUNTER_NAMES, type CounterName } from '../rules/rule-options.ts';

/**
 * Creates the nfacct counters that rules may name, and returns them. A rule that names a missing counter would make the
 * whole restore fail, and so would any such rule in a kernel without xt_nfacct. `notice` receives why a counter is
 * missing.
 */
export async function ensurePacketCounters(
  iptables: Iptables,
  namespace: NetworkNamespace | undefined,
  notice: (message: string) => void,
): Promise<ReadonlySet<CounterName>> {
  const made = makeCounters(namespace, notice);
  const [first] = made;
  if (first === undefined) return made;
  const refusal = await tryMatch(iptables, first);
  if (!refusal) return made;
  notice(`The kernel refuses rules with nfacct counters, so packets are not counted: ${refusal.message}`);
  return new Set();
}

function makeCounters(
  namespace: NetworkNamespace | undefined,
  notice: (message: string) => void,
): ReadonlySet<CounterName> {
  const made = new Set<CounterName>();
  const attempt = (problem: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
      notice(`${problem}: ${error.message}`);
    }
  };
  attempt('The kernel has no nfacct counters', () => {
    const socket = NfacctSocket.open({ namespace });
    try {
      for (const name of COUNTER_NAMES) {
        attempt(`The kernel has no nfacct counter ${name}`, () => {
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
