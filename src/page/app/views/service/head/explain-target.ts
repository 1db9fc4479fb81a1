import type { FrontendDetail, PortDetail } from '../../../../../inspect/index.ts';
import { hostPort } from '../../../parts/texts.ts';

export interface ExplainedPort {
  readonly namespace: string;
  readonly name: string;
  readonly port?: PortDetail | undefined;
  readonly frontend?: FrontendDetail | undefined;
}

/** What `explain` is asked about: the chosen address, or the Service with its port. */
export function explainTarget({ namespace, name, port, frontend }: ExplainedPort): string {
  const protocol = port && port.protocol !== 'TCP' ? `/${port.protocol.toLowerCase()}` : '';
  if (frontend) return `${hostPort(frontend.askedAt, frontend.port)}${protocol}`;
  const number = port?.frontends[0]?.port;
  const portText = port?.name || (number === undefined ? '' : String(number));
  return `${namespace}/${name}${portText === '' ? '' : `:${portText}`}${protocol}`;
}

/** The name of a Service means its primary family. For the other one, an address is needed. */
export function askedFrontend(
  port: PortDetail | undefined,
  chosen: FrontendDetail | undefined,
  addresses: readonly string[],
): FrontendDetail | undefined {
  const [primary] = addresses;
  if (chosen || !port || primary === undefined) return chosen;
  return primary.includes(':') === (port.family === 'IPv6') ? undefined : port.frontends[0];
}
