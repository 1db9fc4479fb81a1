import { type ProbeResult, probe } from '../../src/demo/playground/index.ts';
import { ConntrackSocket } from '../../src/kernel/conntrack/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { KeyedTurns } from '../../src/lib/turns.ts';
import type { Question } from './matrix.ts';
import type { Mode } from './modes.ts';

/** The tests of ipvs mode run in a guest, which is slow. */
const TIMEOUT_MS: Readonly<Record<Mode, number>> = {
  nftables: 600,
  ebpf: 600,
  iptables: 600,
  ipvs: 900,
  userspace: 600,
};
const LONG_TIMEOUT_MS = 4000;
const MIN_TRIES = 24;
/** With this many tries for each endpoint, the chance to miss one of them is e⁻²⁰. */
const TRIES_PER_ENDPOINT = 20;

export interface Expected {
  /** How many endpoints may answer. */
  endpointsOf(question: Question): number;
  /** Nobody answers. */
  isSilent(question: Question): boolean;
}

/**
 * Asks all questions at the same time, with exceptions. Questions to a Service with affinity wait for each other,
 * because they share the affinity. Questions to one address in ipvs mode, and to one Service in userspace mode, also
 * wait for each other, because there endpoints take turns: a caller that gets every third turn could always reach the
 * same one.
 */
export function askAll(
  questions: readonly Question[],
  mode: Mode,
  { endpointsOf, isSilent }: Expected,
): Promise<readonly ProbeResult[]> {
  const turns = new KeyedTurns();
  return Promise.all(
    questions.map(question => {
      const { source, ip, port, protocol, service } = question;
      const hasAffinity = service.spec.sessionAffinity === 'ClientIP';
      const tries = triesFor(mode, hasAffinity, endpointsOf(question));
      const ask = async () => {
        const result = await probe(source.namespace, ip, port, protocol, { tries, timeoutMs: TIMEOUT_MS[mode] });
        // On a busy machine an endpoint may have answered too late once. If connections really get lost, the longer
        // probe shows it too.
        const isUncertain = result.failures.has('timeout') && (result.answers.size > 0 || !isSilent(question));
        return isUncertain
          ? probe(source.namespace, ip, port, protocol, { tries, timeoutMs: LONG_TIMEOUT_MS })
          : result;
      };
      const { name } = service.metadata;
      if (hasAffinity) return turns.take(name, ask);
      if (mode === 'userspace') return askUnlessSilent(question, () => turns.take(name, ask));
      return mode === 'ipvs' && endpointsOf(question) > 1 ? turns.take(`${ip} ${port} ${protocol}`, ask) : ask();
    }),
  );
}

function triesFor(mode: Mode, hasAffinity: boolean, endpoints: number): number {
  // Endpoints that take turns have all answered after as many tries.
  if (mode === 'ipvs') return endpoints + 1;
  return hasAffinity ? MIN_TRIES : Math.max(MIN_TRIES, TRIES_PER_ENDPOINT * endpoints);
}

/** A question without an answer needs no turn, so that all such questions wait at the same time. */
async function askUnlessSilent(
  { source, ip, port, protocol }: Question,
  askInTurn: () => Promise<ProbeResult>,
): Promise<ProbeResult> {
  const first = await probe(source.namespace, ip, port, protocol, { tries: 1, timeoutMs: TIMEOUT_MS.userspace });
  return first.answers.size === 0 ? first : askInTurn();
}

/** Deletes all flows, because flows of one step would change the answers of the next. */
export async function forgetFlows(namespace: NetworkNamespace): Promise<void> {
  const conntrack = ConntrackSocket.open({ namespace });
  try {
    await conntrack.delete([...conntrack.dump()]);
  } finally {
    conntrack.close();
  }
}
