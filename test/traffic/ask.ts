import { type ProbeResult, probe } from '../../src/demo/playground/index.ts';
import { ConntrackSocket } from '../../src/kernel/conntrack/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import type { Question } from './matrix.ts';
import type { Mode } from './modes.ts';

/** ipvs is tested in a guest, which is slow. */
const TIMEOUT_MS: Readonly<Record<Mode, number>> = { nftables: 600, iptables: 600, ipvs: 900, userspace: 600 };
const PATIENT_MS = 4000;
const FEWEST_TRIES = 24;
/** One endpoint of many is missed so many times for each of them with a chance of e⁻²⁰. */
const TRIES_AN_ENDPOINT = 20;

/**
 * Asks everything at once. Questions to a Service with affinity wait for each other: they share what it remembers. So do
 * those to an address in ipvs mode and to a Service in userspace mode, whose endpoints take turns: who asks every third
 * time might always meet the same.
 */
export function askAll(
  questions: readonly Question[],
  mode: Mode,
  endpointsOf: (question: Question) => number,
): Promise<readonly ProbeResult[]> {
  const turns = new Map<string, Promise<unknown>>();
  return Promise.all(
    questions.map(question => {
      const { source, ip, port, protocol, service } = question;
      const hasAffinity = service.spec.sessionAffinity === 'ClientIP';
      const tries = triesFor(mode, hasAffinity, endpointsOf(question));
      const ask = async () => {
        const result = await probe(source.namespace, ip, port, protocol, { tries, timeoutMs: TIMEOUT_MS[mode] });
        // Who answers most of the time may have been slow on a busy machine. One who really loses some does it again.
        const isUnsure = result.answers.size > 0 && result.failures.has('timeout');
        return isUnsure ? probe(source.namespace, ip, port, protocol, { tries, timeoutMs: PATIENT_MS }) : result;
      };
      const askInTurn = (key: string) => {
        const answer = (turns.get(key) ?? Promise.resolve()).then(ask);
        turns.set(key, answer);
        return answer;
      };
      if (hasAffinity) return askInTurn(service.metadata.name);
      if (mode === 'userspace') return askUnlessSilent(question, () => askInTurn(service.metadata.name));
      return mode === 'ipvs' && endpointsOf(question) > 1 ? askInTurn(`${ip} ${port} ${protocol}`) : ask();
    }),
  );
}

function triesFor(mode: Mode, hasAffinity: boolean, endpoints: number): number {
  // Endpoints that take turns have all been met after as many tries.
  if (mode === 'ipvs') return endpoints + 1;
  return hasAffinity ? FEWEST_TRIES : Math.max(FEWEST_TRIES, TRIES_AN_ENDPOINT * endpoints);
}

/** Those who get no answer need no turn, and waiting is done by all of them at once. */
async function askUnlessSilent(
  { source, ip, port, protocol }: Question,
  askInTurn: () => Promise<ProbeResult>,
): Promise<ProbeResult> {
  const first = await probe(source.namespace, ip, port, protocol, { tries: 1, timeoutMs: TIMEOUT_MS.userspace });
  return first.answers.size === 0 ? first : askInTurn();
}

/** Flows of an earlier step would blur the next. */
export async function forgetFlows(namespace: NetworkNamespace): Promise<void> {
  const conntrack = ConntrackSocket.open({ namespace });
  try {
    await conntrack.delete([...conntrack.dump()]);
  } finally {
    conntrack.close();
  }
}
