import { errorText } from '../../lib/error-text.ts';
import { entryState, type KernelEntry, type KernelReading } from '../../modes/index.ts';
import { planName } from '../../plan/index.ts';
import type { Facts } from '../facts.ts';
import { counted, type Finding, finding } from '../finding.ts';
import type { MetFrontend } from '../target.ts';

const MAX_LINES = 20;
/** Entries that are as they should be. */
const MAX_EQUAL_LINES = 10;

export interface KernelFindings {
  readonly findings: readonly Finding[];
  /** Undefined if the kernel was not read. */
  readonly reading: KernelReading | undefined;
}

/** What the kernel holds for the service port, beside what the mode wants. */
export async function kernelSteps(met: MetFrontend, facts: Facts): Promise<KernelFindings> {
  const aside = setAsideStep(met, facts);
  const { kernel } = facts;
  if (!kernel) {
    const text =
      facts.origin === 'proxy'
        ? `The ${facts.mode.descriptor.name} mode cannot read the kernel back.`
        : 'The command read no kernel, because it asked no running proxy.';
    return { findings: [...aside, finding('kernel', 'note', text)], reading: undefined };
  }
  try {
    const reading = await kernel.readBack(met.family, met.plan);
    return { findings: [...aside, readBackStep(met, reading, facts)], reading };
  } catch (error) {
    const failed = finding('kernel', 'unknown', `The proxy could not read the kernel: ${errorText(error)}.`);
    return { findings: [...aside, failed], reading: undefined };
  }
}

function setAsideStep({ plan, family }: MetFrontend, facts: Facts): readonly Finding[] {
  const found = facts.setAside.find(
    other =>
      other.family === family &&
      `${other.namespace}/${other.name}` === plan.service &&
      other.port === plan.port.name &&
      other.protocol === plan.port.protocol,
  );
  if (!found) return [];
  const { cause } = found;
  const [namespace, name] = plan.service.split('/');
  const isRefused = cause.code !== 'UNSUPPORTED' && cause.code !== 'INTERNAL';
  const text = isRefused
    ? `${planName(plan)} is set aside: the kernel refused it, so it is not programmed.`
    : `${planName(plan)} is set aside: the mode ${facts.mode.descriptor.name} cannot program it.`;
  return [
    finding('kernel', 'bad', text, {
      details: [cause.message, ...(cause.object === undefined ? [] : [`Refused: ${cause.object}`])],
      data: { setAside: found },
      next: {
        text: 'remove the cause; the proxy retries when the Service changes',
        command: `kubectl -n ${namespace} annotate service ${name} retried-at="$(date)" --overwrite`,
      },
    }),
  ];
}

function readBackStep(met: MetFrontend, reading: KernelReading, facts: Facts): Finding {
  const { plan } = met;
  const { entries, incomplete } = reading;
  const different = entries.filter(entry => entryState(entry) !== 'equal');
  const more = incomplete === undefined ? [] : [`Not everything was read: ${incomplete}.`];
  const data = { entries: entries.map(entry => ({ ...entry, state: entryState(entry) })), incomplete };
  if (different.length === 0) {
    const details = [...equalLines(entries, met), ...more];
    if (entries.length === 0)
      return finding('kernel', 'unknown', 'The proxy could read nothing from the kernel.', { details, data });
    if (incomplete !== undefined) {
      const text = `The kernel has the ${entries.length} entries that were read, as the proxy wants them.`;
      return finding('kernel', 'note', text, { details, data });
    }
    const text = `The kernel has ${entries.length === 1 ? 'the one entry' : `all ${entries.length} entries`} that the proxy wants, read just now.`;
    return finding('kernel', 'good', text, { details, data });
  }
  const details = [...different.slice(0, MAX_LINES).flatMap(differenceLines), ...moreLines(different.length), ...more];
  const text = `${different.length} of ${counted(entries.length, 'kernel entry').replace('entrys', 'entries')} for ${planName(plan)} ${different.length === 1 ? 'is' : 'are'} not as the proxy wants.`;
  if (facts.isPending) {
    return finding('kernel', 'unknown', `${text} A sync is due and may write them.`, { details, data });
  }
  if (!isCurrent(met, facts)) {
    const changed = `${planName(plan)} changed while the kernel was read. Ask again.`;
    return finding('kernel', 'unknown', changed, { data });
  }
  return finding('kernel', 'bad', text, {
    details,
    data,
    summary: `The kernel differs from the plan: ${differenceSummary(different)}.`,
    next: {
      text: 'see what changed it; the proxy repairs this within syncPeriod',
      command: 'kube-proxy history --since 10m',
    },
  });
}

/** The planner replaces the plan of a service port when it changes. */
function isCurrent({ plan, family }: MetFrontend, { state }: Facts): boolean {
  return state.family(family).planner.plansOf(plan.service).includes(plan);
}

function moreLines(count: number): readonly string[] {
  return count > MAX_LINES ? [`and ${count - MAX_LINES} more (-o json has all)`] : [];
}

/** The entries of this Service. Those that all Services share are only counted, because there are many. */
function equalLines(entries: readonly KernelEntry[], { plan, ip }: MetFrontend): readonly string[] {
  const words = [plan.service, ip, ...plan.endpoints.cluster.map(({ ip: endpoint }) => endpoint)];
  const own = entries.filter(({ place, found = '' }) => words.some(word => `${place} ${found}`.includes(word)));
  const shown = own.slice(0, MAX_EQUAL_LINES);
  const rest = entries.length - shown.length;
  return [
    ...shown.map(({ place, found = '' }) => `✓ ${place}: ${found}`),
    ...(rest === 0 ? [] : [`✓ ${rest} more ${rest === 1 ? 'entry' : 'entries'} (-o json has all)`]),
  ];
}

function differenceLines(entry: KernelEntry): readonly string[] {
  const { kind, place, wanted = '', found = '' } = entry;
  switch (entryState(entry)) {
    case 'missing':
      return [`✗ ${kind} missing in ${place}`, `    wanted: ${wanted}`];
    case 'unexpected':
      return [`✗ ${kind} unexpected in ${place}`, `    found:  ${found}`];
    case 'different':
      return [`✗ ${kind} different in ${place}`, `    wanted: ${wanted}`, `    found:  ${found}`];
    case 'equal':
      return [];
  }
}

function differenceSummary(entries: readonly KernelEntry[]): string {
  const [first] = entries;
  if (!first) return '';
  const rest = entries.length === 1 ? '' : `, and ${entries.length - 1} more`;
  return `${first.kind} ${entryState(first)} in ${first.place}${rest}`;
}
