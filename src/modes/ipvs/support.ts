import { KernelError } from '../../kernel/errors.ts';
import { IpsetSocket } from '../../kernel/ipset/index.ts';
import { IpvsSocket, type ServiceKey } from '../../kernel/ipvs/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { parseIp } from '../../net/index.ts';

/** Of a network for documentation: nobody has it. */
const PROBE = { kind: 'address', protocol: 'TCP', address: '198.51.100.0', port: 20000 } as const;

/** Why the mode cannot be used on this machine; undefined if it can. Loads the modules that it needs. */
export function ipvsUnavailable(scheduler: string, namespace?: NetworkNamespace): string | undefined {
  try {
    IpsetSocket.open({ namespace }).close();
  } catch (error) {
    return `can't use the IPVS proxier: ipset: ${words(error)}`;
  }
  const socket = IpvsSocket.open({ namespace });
  try {
    probe(socket, scheduler);
    return undefined;
  } catch (error) {
    return `can't use the IPVS proxier: ${words(error)}`;
  } finally {
    socket.close();
  }
}

/** One that exists with the scheduler proves that the kernel has it; else one is made for a moment. */
function probe(socket: IpvsSocket, scheduler: string): void {
  if (socket.services().some(service => service.scheduler === scheduler)) return;
  const address = parseIp(PROBE.address);
  if (!address) return;
  const key: ServiceKey = { ...PROBE, address };
  socket.newService({ key, scheduler });
  socket.deleteService(key);
}

function words(error: unknown): string {
  if (error instanceof KernelError) return error.message;
  throw error;
}
