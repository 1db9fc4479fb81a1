import type { PlannedFrontend } from '../../plan/index.ts';
import { type Destination, type FrontendIndex, isNodeIP, type OutcomeContext } from './question.ts';

/**
 * The frontend that owns an address and port. An address that a Service names comes before a node port. A node port
 * matches at every address of the node, also where it is not accepted.
 */
export function matchFrontend(
  frontends: Pick<FrontendIndex, 'frontendAt'>,
  { ip, port, protocol }: Destination,
  node: Pick<OutcomeContext, 'nodeIPs'>,
): PlannedFrontend | undefined {
  const named = frontends.frontendAt(ip, port, protocol);
  if (named) return named;
  return isNodeIP(node, ip) ? frontends.frontendAt(undefined, port, protocol) : undefined;
}
