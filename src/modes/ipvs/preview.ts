import { printCommand, printElement } from '../../kernel/ipset/index.ts';
import { printChange } from '../../kernel/ipvs/index.ts';
import type { Family, Ip } from '../../net/index.ts';
import type { ServicePortPlan } from '../../plan/index.ts';
import type { ModeSettings } from '../mode.ts';
import { DEVICE } from './kernel-state/address-table.ts';
import { renderContext } from './render.ts';
import { JUMPS, restoreText } from './rules/rule-text.ts';
import { serverChanges } from './diff.ts';
import { ipSet, SET_KEYS, type SetKey, setName } from './names.ts';
import type { Wanted } from './wanted/wanted-objects.ts';
import { WantedPlans } from './wanted/rendered-plans.ts';

export interface PreviewInput {
  readonly family: Family;
  readonly scheduler: string;
  readonly settings: ModeSettings;
  /** This machine's addresses, those of kube-ipvs0 apart. */
  readonly nodeIPs: readonly Ip[];
  readonly plans: readonly ServicePortPlan[];
}

/** What a first start would write, in the words of ipset, ip, ipvsadm and iptables-restore. */
export function previewIpvs(input: PreviewInput): string {
  const { family, settings, plans } = input;
  const planned = new WantedPlans(renderContext(input));
  planned.want({ added: plans, updated: [], removed: [] });
  const { wanted } = planned;
  const program = family === 'IPv4' ? 'iptables-restore' : 'ip6tables-restore';
  const rules = restoreText(
    {
      family,
      localDetector: settings.localDetector,
      masqueradeAll: settings.masqueradeAll,
      masqueradeMark: settings.masqueradeMark,
      randomFully: true,
      used: new Set(SET_KEYS.filter(set => !wanted.isEmpty(set))),
      drops: wanted.drops(),
    },
    JUMPS,
  );
  return [
    `# ${family}: ipset restore`,
    ...SET_KEYS.map(set => printCommand({ kind: 'create', set: ipSet(set, family) })),
    ...SET_KEYS.flatMap(set => elementLines(wanted, set, family)),
    `# ${family}: addresses of ${DEVICE}`,
    ...[...wanted.elementTexts('ipvsIPs')].sort(),
    `# ${family}: ipvsadm -R`,
    ...[...wanted.serverIds()].sort().flatMap(id => serverChanges(wanted.server(id), undefined).map(printChange)),
    `# ${family}: ${program} -w 5 --noflush --counters`,
    rules,
  ].join('\n');
}

function elementLines(wanted: Wanted, set: SetKey, family: Family): readonly string[] {
  const elements = [...wanted.elementTexts(set)].sort().flatMap(text => wanted.element(set, text) ?? []);
  return elements.map(element => `add ${setName(set, family)} ${printElement(element)}`);
}
