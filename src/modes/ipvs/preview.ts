import { KernelError } from '../../kernel/errors.ts';
import { printCommand } from '../../kernel/ipset/index.ts';
import { type IpvsSocket, printChange } from '../../kernel/ipvs/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { RouteSocket } from '../../kernel/rtnetlink/index.ts';
import { compareTexts } from '../../lib/compare-texts.ts';
import { type Ip, parseCidr } from '../../net/index.ts';
import type { ModeMachine, PreviewInput } from '../descriptor.ts';
import { openIptables } from '../iptables-programs.ts';
import { SILENT_EVENTS } from '../mode.ts';
import { serverChanges } from './diff.ts';
import { differenceText } from './kernel-state/difference-text.ts';
import { KernelState } from './kernel-state/kernel-state.ts';
import type { IpvsKernel } from './kernel-state/server-table.ts';
import { openSockets } from './kernel-state/sockets.ts';
import { ipSet, LINK, SET_KEYS, setName } from './names.ts';
import { type ContextInput, renderContext } from './render.ts';
import { JUMPS } from './rules/jumps.ts';
import { ruleDiffText } from './rules/rule-diff.ts';
import { restoreText, ruleInput } from './rules/rule-text.ts';
import type { IpvsOptions } from './settings/options.ts';
import { RenderedPlans } from './wanted/rendered-plans.ts';
import { DEFAULT_SCHEDULER } from './wanted/scheduler.ts';
import type { WantedObjects } from './wanted/wanted-objects.ts';

/** The plans of one family, and what they are rendered with. */
export interface PlannedFamily
  extends Pick<PreviewInput, 'family' | 'plans' | 'settings'>,
    Pick<ContextInput, 'scheduler' | 'nodeIPs'> {}

/** What the mode would write, in the words of ipset, ip, ipvsadm and iptables-restore. Writes nothing. */
export async function previewIpvs(options: IpvsOptions, input: PreviewInput): Promise<string> {
  const { family, plans, settings } = input;
  const scheduler = options.scheduler || DEFAULT_SCHEDULER;
  const planned = { family, plans, settings, scheduler, nodeIPs: listNodeIPs(input.namespace) };
  return input.against === 'nothing' ? firstStartText(planned) : compareWithKernel(planned, options, input);
}

/** What a first start would write. */
export function firstStartText(planned: PlannedFamily): string {
  const { family, settings } = planned;
  const wanted = wantedObjects(planned);
  const program = family === 'IPv4' ? 'iptables-restore' : 'ip6tables-restore';
  return [
    `# ${family}: ipset restore`,
    ...SET_KEYS.map(set => printCommand({ kind: 'create', set: ipSet(set, family) })),
    ...SET_KEYS.flatMap(set => {
      const names = [...wanted.elementNames(set)].sort(compareTexts);
      return names.map(name => `add ${setName(set, family)} ${name}`);
    }),
    `# ${family}: addresses of ${LINK}`,
    ...[...wanted.elementNames('ipvsIPs')].sort(compareTexts),
    `# ${family}: ipvsadm -R`,
    ...[...wanted.serverIds()]
      .sort(compareTexts)
      .flatMap(id => serverChanges(wanted.server(id), undefined).map(printChange)),
    `# ${family}: ${program} -w 5 --noflush --counters`,
    restoreText(ruleInput(family, wanted, settings, true), JUMPS),
  ].join('\n');
}

/** What differs between the kernel and the plans. */
async function compareWithKernel(
  planned: PlannedFamily,
  { excludeCIDRs = [] }: IpvsOptions,
  machine: ModeMachine,
): Promise<string> {
  const { namespace, programs } = machine;
  const { family, settings, nodeIPs } = planned;
  const wanted = wantedObjects(planned);
  const iptables = await openIptables(family, { ...programs, namespace });
  const sockets = openSockets(namespace);
  try {
    const excluded = excludeCIDRs.flatMap(text => parseCidr(text) ?? []);
    const state = new KernelState(
      { family, excludeCIDRs: excluded, iptables, events: SILENT_EVENTS },
      { ...sockets, ipvs: serversOf(sockets.ipvs) },
    );
    await state.read(wanted, new Set(nodeIPs));
    const present = { ...state.known, missingSets: state.sets.missing, hasLink: state.addresses.hasLink };
    const input = ruleInput(family, wanted, settings, state.rules.randomFully);
    const rules = await ruleDiffText(input, state.rules.present, machine);
    const title = `# ${family}: ${iptables.restoreCommand()}\n`;
    return `${differenceText(family, wanted, present)}${rules === '' ? '' : `${title}${rules}`}`;
  } finally {
    sockets.close();
  }
}

function wantedObjects(planned: PlannedFamily): WantedObjects {
  const rendered = new RenderedPlans(renderContext(planned));
  rendered.take({ added: planned.plans, updated: [], removed: [] });
  return rendered.wanted;
}

/** The addresses of this machine, except those of kube-ipvs0. */
function listNodeIPs(namespace: NetworkNamespace | undefined): readonly Ip[] {
  const socket = RouteSocket.open({ namespace });
  try {
    const link = socket.link(LINK)?.index;
    return socket.addresses({}).flatMap(({ ip, index }) => (index === link ? [] : [ip]));
  } finally {
    socket.close();
  }
}

const NO_SERVERS: IpvsKernel = {
  services: () => [],
  service: () => undefined,
  destinations: () => [],
  apply: async () => [],
};

/** A kernel that has not loaded ip_vs has no virtual servers, and a preview does not load it. */
function serversOf(socket: IpvsSocket): IpvsKernel {
  try {
    socket.info();
    return socket;
  } catch (error) {
    if (error instanceof KernelError) return NO_SERVERS;
    throw error;
  }
}
