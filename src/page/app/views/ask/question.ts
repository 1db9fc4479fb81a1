import type { ServiceRow } from '../../../../inspect/index.ts';
import { shellQuote } from '../../parts/shell-quote.ts';

/** What the operator asks: from where, and to where. */
export interface AskedTexts {
  readonly from: string;
  readonly to: string;
}

const MAX_SUGGESTIONS = 20;
/** The most Services that are looked at while the operator types. */
const MAX_LOOKS = 50_000;

/** Services, with their ports, that contain what is typed. Those that begin with it come first. */
export function suggestions(
  typed: string,
  services: ReadonlyMap<string, Pick<ServiceRow, 'ports'>>,
): readonly string[] {
  const wanted = typed.trim().toLowerCase().replace(/:.*$/, '');
  const first: string[] = [];
  const later: string[] = [];
  let looks = 0;
  for (const [key, { ports }] of services) {
    if (++looks > MAX_LOOKS || first.length >= MAX_SUGGESTIONS) break;
    if (!key.includes(wanted)) continue;
    const list = key.startsWith(wanted) || key.includes(`/${wanted}`) ? first : later;
    if (list.length < MAX_SUGGESTIONS)
      list.push(...(ports.length === 0 ? [key] : ports.map(port => target(key, port))));
  }
  return [...first, ...later].slice(0, MAX_SUGGESTIONS);
}

/** `shop/web:80`, `kube-system/dns:53/udp`: a port of a list is `80/TCP` or `80:30080/TCP`. */
function target(key: string, port: string): string {
  const [, number = '', protocol = 'TCP'] = /^(\d+)(?::\d+)?\/(\w+)$/.exec(port) ?? [];
  return `${key}:${number}${protocol === 'TCP' ? '' : `/${protocol.toLowerCase()}`}`;
}

const CALLER = /^(?:[a-z0-9][-.a-z0-9]*(?:\/[a-z0-9][-.a-z0-9]*)?|\[?[0-9a-f:.]+\]?)$/;

/** Whether the text has the form of a pod, an address, `node` or `outside`. If not, the caller is the wrong field. */
export function isCallerText(from: string): boolean {
  return from === '' || CALLER.test(from);
}

/** `kube-proxy explain --from node shop/web:80` */
export function explainCommand(program: string, { from, to }: AskedTexts, probe = false): string {
  const caller = from === '' ? [] : ['--from', shellQuote(from)];
  return [program, 'explain', ...caller, shellQuote(to), ...(probe ? ['--probe'] : [])].join(' ');
}
