import { parseSave, type SavedTables } from '../kernel/iptables/index.ts';
import { NetworkNamespace } from '../kernel/netns.ts';
import type { Family } from '../net/index.ts';
import type { ModeMachine } from './descriptor.ts';
import { openIptables } from './iptables-programs.ts';

/** The rules of this machine, as iptables-save lists them. */
export async function listRules(family: Family, { namespace, programs }: ModeMachine): Promise<SavedTables> {
  const iptables = await openIptables(family, { ...programs, namespace });
  return parseSave(await iptables.save());
}

/**
 * Lists rules as iptables-save would, if this machine had them. iptables-save prints a rule in another form than the
 * one that iptables-restore reads, so two lists can only be compared in the form of iptables-save. The function writes
 * the rules into an empty network namespace and lists them there. `prepare` creates other things that the rules need.
 */
export async function listAsSaved(
  family: Family,
  restores: Iterable<string | Iterable<string>>,
  { programs }: ModeMachine,
  prepare: (scratch: NetworkNamespace) => void | Promise<void> = () => {},
): Promise<SavedTables> {
  const scratch = NetworkNamespace.create();
  try {
    await prepare(scratch);
    const iptables = await openIptables(family, { ...programs, namespace: scratch });
    for (const restore of restores) await iptables.restore(restore);
    return parseSave(await iptables.save());
  } finally {
    scratch.close();
  }
}
