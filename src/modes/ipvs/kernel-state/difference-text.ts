import { printCommand } from '../../../kernel/ipset/index.ts';
import { printChange } from '../../../kernel/ipvs/index.ts';
import { compareTexts } from '../../../lib/compare-texts.ts';
import type { Family } from '../../../net/index.ts';
import {
  addressesToAdd,
  addressesToDelete,
  allNames,
  type ElementBatch,
  elementsToAdd,
  elementsToDelete,
  type KnownObjects,
  serverChanges,
} from '../diff.ts';
import { ipSet, LINK, type SetKey, setName } from '../names.ts';
import type { ObjectNames, WantedObjects } from '../wanted/wanted-objects.ts';
import { PREFIX_LENGTH } from './address-table.ts';

/** The kernel as a preview found it. */
export interface PresentObjects extends KnownObjects {
  readonly missingSets: readonly SetKey[];
  /** Whether kube-ipvs0 exists. */
  readonly hasLink: boolean;
}

/**
 * The sets, addresses and virtual servers that differ from what is wanted, in the words of `ipset restore`, `ip -batch`
 * and `ipvsadm -R`. Empty if nothing differs.
 */
export function differenceText(family: Family, wanted: WantedObjects, present: PresentObjects): string {
  const names = allNames(wanted, present);
  const sections: readonly [title: string, lines: readonly string[]][] = [
    ['ipset restore', setLines(family, wanted, present, names)],
    ['ip -batch', addressLines(family, wanted, present, names)],
    ['ipvsadm -R', serverLines(wanted, present, names)],
  ];
  return sections
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => `# ${family}: ${title}\n${lines.join('\n')}\n`)
    .join('');
}

function setLines(
  family: Family,
  wanted: WantedObjects,
  { missingSets, elements }: PresentObjects,
  names: ObjectNames,
): readonly string[] {
  const lines = (kind: 'add' | 'del', batches: readonly ElementBatch[]) =>
    batches.flatMap(({ set, elements: entries }) =>
      printCommand({ kind, name: setName(set, family), entries })
        .split('\n')
        .sort(compareTexts),
    );
  return [
    ...missingSets.map(set => printCommand({ kind: 'create', set: ipSet(set, family) })),
    ...lines('add', elementsToAdd(names.elements, wanted, elements)),
    ...lines('del', elementsToDelete(names.elements, wanted, elements)),
  ];
}

function addressLines(
  family: Family,
  wanted: WantedObjects,
  { hasLink, addresses }: PresentObjects,
  names: ObjectNames,
): readonly string[] {
  const ips = [...(names.elements.get('ipvsIPs') ?? [])].sort(compareTexts);
  const line = (verb: 'add' | 'del') => (ip: string) => `addr ${verb} ${ip}/${PREFIX_LENGTH[family]} dev ${LINK}`;
  return [
    ...(hasLink ? [] : [`link add ${LINK} txqueuelen 0 type dummy`]),
    ...addressesToAdd(ips, wanted, addresses).map(line('add')),
    ...addressesToDelete(ips, wanted, addresses).map(line('del')),
  ];
}

function serverLines(wanted: WantedObjects, { servers }: PresentObjects, names: ObjectNames): readonly string[] {
  const ids = [...names.servers].sort(compareTexts);
  return ids.flatMap(id => serverChanges(wanted.server(id), servers.get(id)).map(printChange));
}
