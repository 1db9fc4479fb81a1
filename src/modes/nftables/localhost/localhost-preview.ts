import { KernelError } from '../../../kernel/errors.ts';
import { closeRaw, openBound } from '../../../kernel/sockets/index.ts';
import { joinHostPort } from '../../../net/index.ts';
import { type LocalhostListener, localhostNodePort, planName } from '../../../plan/index.ts';
import type { PreviewInput } from '../../descriptor.ts';
import { LOCALHOST } from './localhost-port.ts';

/**
 * The listeners that the mode would open, as comments of an nft script. Against the kernel, leaves out the ports at
 * which a process listens already.
 */
export function previewLocalhost(input: PreviewInput): string {
  const { family, plans, settings, against } = input;
  const lines = plans.flatMap(plan => {
    const nodePort = localhostNodePort(plan, settings.nodePortAddresses.containsExplicitLoopback);
    if (nodePort?.kind !== 'listen') return [];
    if (against === 'kernel' && isTaken(input, nodePort)) return [];
    const { protocol, port, endpoints } = nodePort;
    const at = joinHostPort(LOCALHOST[family], port);
    const texts = endpoints.map(({ text }) => text);
    return [`# listen ${protocol.toLowerCase()} ${at} for ${planName(plan)}: ${texts.join(', ')}`];
  });
  return lines.length === 0 ? '' : `${['# listeners of the kube-proxy process', ...lines].join('\n')}\n`;
}

/** Binds the port for a moment to find out. */
function isTaken({ family, namespace }: PreviewInput, { protocol, port }: LocalhostListener): boolean {
  try {
    closeRaw(openBound(namespace, family, protocol, LOCALHOST[family], port));
    return false;
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    return true;
  }
}
