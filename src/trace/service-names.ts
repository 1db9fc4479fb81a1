import type { MatchedElement } from './matched-elements.ts';

/** The table of nftables mode. */
const OWN_TABLE = 'kube-proxy';
/** `ns/name` or `ns/name:port`, as modes write service ports into comments. */
const NAME = '[a-z0-9.-]+/[a-z0-9.-]+(?::[A-Za-z0-9.-]+)?';
const WHOLE_NAME = new RegExp(`^${NAME}$`);
/** `service-ABCDEFGH-ns/name/tcp/port`, and with an endpoint `…__10.0.0.1/80`. */
const CHAIN = /-[A-Z0-9]{8}-([^/]+\/[^/]+)\/(?:tcp|udp|sctp)\/([^/]*?)(?:__.*)?$/;
/** The comment of a rule of iptables begins with the name: `"default/web:http cluster IP"`. */
const COMMENT = new RegExp(`^(${NAME})(?: |$)`);
const IPTABLES_PREFIX = 'KUBE-';

/** The Services that a rule of nftables mode is about: by the elements that it found, and by the name of its chain. */
export function servicesOfRule(table: string, chain: string, elements: readonly MatchedElement[]): readonly string[] {
  if (table !== OWN_TABLE) return [];
  const comments = elements.flatMap(({ element }) => element.comment ?? []);
  return [...new Set([...comments.filter(comment => WHOLE_NAME.test(comment)), ...serviceOfChain(chain)])];
}

/** The Services that a rule of iptables is about, by its comment. */
export function servicesOfComment(chain: string, comment: string): readonly string[] {
  const name = chain.startsWith(IPTABLES_PREFIX) ? COMMENT.exec(comment)?.[1] : undefined;
  return name === undefined ? [] : [name];
}

function serviceOfChain(chain: string): readonly string[] {
  const [, service, port] = CHAIN.exec(chain) ?? [];
  if (service === undefined) return [];
  return [port ? `${service}:${port}` : service];
}
