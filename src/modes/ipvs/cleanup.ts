import { KernelError } from '../../kernel/errors.ts';
import { type Element, IpsetSocket, printElement, type Refusal } from '../../kernel/ipset/index.ts';
import { IpvsSocket } from '../../kernel/ipvs/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { type Address, RouteSocket } from '../../kernel/rtnetlink/index.ts';
import { FAMILIES, type Family } from '../../net/index.ts';
import { type Cleanup, CleanupReport } from '../cleanup-report.ts';
import type { CleanupOptions } from '../descriptor.ts';
import { LeftoverError, leftoverOf } from '../leftover.ts';
import { ownerOf } from './kernel-state/ownership.ts';
import { ServerTable } from './kernel-state/server-table.ts';
import { WriteSummary } from './kernel-state/write-report.ts';
import { LINK, SET_KEYS, type SetKey, setName } from './names.ts';
import { removeRules } from './rules/remove-rules.ts';
import { WantedObjects } from './wanted/wanted-objects.ts';

/** Removes everything that the mode made, in both families. Virtual servers of other programs stay. */
export async function cleanupIpvs(options: CleanupOptions = {}): Promise<Cleanup> {
  const { namespace } = options;
  const report = new CleanupReport();
  const sets = readSets(namespace);
  const addresses = readAddresses(namespace);
  for (const family of FAMILIES) {
    await report.attempt(`${family} virtual servers`, () => removeServers(family, { sets, ...addresses }, namespace));
    await removeRules(family, options, report);
  }
  // `hasIpvsLeftovers` tests for the link, so it stays as long as virtual servers or rules do. A set that stays because
  // another program uses it does no harm.
  const isHarmless = report.errors.length === 0;
  await removeSets(sets, report, namespace);
  await report.attempt(`link ${LINK}`, async () => removeLink(isHarmless, namespace));
  return report;
}

/** Whether an earlier run of the mode was not cleaned up. The mode never runs without its link. */
export function hasIpvsLeftovers(namespace?: NetworkNamespace): boolean {
  const socket = RouteSocket.open({ namespace });
  try {
    return socket.link(LINK) !== undefined;
  } finally {
    socket.close();
  }
}

/** The names of elements, by name of the set. */
type Sets = ReadonlyMap<string, ReadonlySet<string>>;

interface Addresses {
  /** The addresses of kube-ipvs0. */
  readonly ours: ReadonlySet<string>;
  /** The addresses of all other links. */
  readonly nodeIPs: ReadonlySet<string>;
}

function readSets(namespace: NetworkNamespace | undefined): Sets {
  const socket = unlessRefused(() => IpsetSocket.open({ namespace }));
  if (!socket) return new Map();
  try {
    const ours = new Set(FAMILIES.flatMap(family => SET_KEYS.map(key => setName(key, family))));
    const names = [...socket.names()].filter(name => ours.has(name));
    return new Map(names.map(name => [name, new Set([...socket.entries(name)].map(printElement))]));
  } finally {
    socket.close();
  }
}

function readAddresses(namespace: NetworkNamespace | undefined): Addresses {
  const socket = RouteSocket.open({ namespace });
  try {
    const link = socket.link(LINK);
    const listed = socket.addresses({});
    const isOurs = ({ index }: Address) => index === link?.index;
    return {
      ours: new Set(listed.filter(isOurs).map(({ ip }) => ip)),
      nodeIPs: new Set(listed.filter(address => !isOurs(address)).map(({ ip }) => ip)),
    };
  } finally {
    socket.close();
  }
}

async function removeServers(
  family: Family,
  { sets, ours, nodeIPs }: Addresses & { readonly sets: Sets },
  namespace: NetworkNamespace | undefined,
): Promise<string | undefined> {
  const socket = IpvsSocket.open({ namespace });
  const found = {
    hasElement: (set: SetKey, element: Element) => sets.get(setName(set, family))?.has(printElement(element)) ?? false,
    hasAddress: (ip: string) => ours.has(ip),
    isNodeIP: (ip: string) => nodeIPs.has(ip),
  };
  try {
    if (!unlessRefused(() => socket.info())) return undefined;
    const table = new ServerTable(socket, family, () => {});
    await table.read(key => ownerOf(key, found, []));
    const ids = [...table.known.keys()];
    const nothing = { wanted: new WantedObjects(), summary: new WriteSummary(), progress: () => {} };
    const [refused] = await table.write(ids, nothing);
    if (refused) throw refused.error;
    return ids.length > 0 ? `${ids.length} ${family} virtual servers` : undefined;
  } finally {
    socket.close();
  }
}

function removeLink(isHarmless: boolean, namespace: NetworkNamespace | undefined): string | undefined {
  const socket = RouteSocket.open({ namespace });
  try {
    const link = socket.link(LINK);
    if (!link) return undefined;
    const object = `link ${LINK}`;
    if (link.kind !== 'dummy') {
      const reason = `it is of kind ${link.kind}, but kube-proxy makes it of kind dummy`;
      const advice = `if no other program needs it, delete it (ip link del ${LINK})`;
      throw new LeftoverError({ object, reason, advice });
    }
    if (!isHarmless) {
      const reason = 'virtual servers or chains of ipvs mode stay, too';
      throw new LeftoverError({ object, reason, advice: 'remove these first, then run the cleanup again' });
    }
    socket.deleteLink(link);
    return `link ${LINK}`;
  } finally {
    socket.close();
  }
}

async function removeSets(sets: Sets, report: CleanupReport, namespace: NetworkNamespace | undefined): Promise<void> {
  if (sets.size === 0) return;
  await report.attempt('sets', async () => {
    const socket = IpsetSocket.open({ namespace });
    try {
      const commands = [...sets.keys()].map(name => ({ kind: 'destroy', name }) as const);
      const refusals = await socket.restore(commands, { exist: true });
      report.errors.push(...refusals.map(setLeftover));
      const count = sets.size - refusals.length;
      return count === 0 ? undefined : `${count} ${count === 1 ? 'set' : 'sets'}`;
    } finally {
      socket.close();
    }
  });
}

function setLeftover({ command, error }: Refusal): LeftoverError {
  const name = command.kind === 'destroy' ? (command.name ?? '') : '';
  const object = `set ${name}`;
  if (error.errno !== 'IPSET_ERR_BUSY') return leftoverOf(object, error);
  const reason = 'a rule of another program uses it';
  const advice = `delete that rule (iptables-save | grep -w -- ${name}), then run the cleanup again`;
  return new LeftoverError({ object, reason, advice }, error);
}

/** A kernel without ipvs or ipset refuses, and has nothing of the mode. */
function unlessRefused<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof KernelError) return undefined;
    throw error;
  }
}
