import { KernelError } from '../../kernel/errors.ts';
import { IpsetSocket } from '../../kernel/ipset/index.ts';
import { IpvsSocket, loadIpvs, type ServiceKey } from '../../kernel/ipvs/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { parseIp } from '../../net/index.ts';
import { DEFAULT_SCHEDULER } from './wanted/virtual-server.ts';

/** Of a network for documentation: nobody has it. */
const PROBE = { kind: 'address', protocol: 'TCP', address: '198.51.100.0', port: 20000 } as const;

/** How the kernel is reached. */
export interface Openers {
  ipset(): Pick<IpsetSocket, 'close'>;
  ipvs(): Pick<IpvsSocket, 'services' | 'newService' | 'deleteService' | 'close'>;
}

/** Why the mode cannot be used on this machine; undefined if it can. Loads the modules that it needs. */
export async function ipvsUnavailable(scheduler: string, namespace?: NetworkNamespace): Promise<string | undefined> {
  await loadIpvs();
  return unavailable(scheduler || DEFAULT_SCHEDULER, {
    ipset: () => IpsetSocket.open({ namespace }),
    ipvs: () => IpvsSocket.open({ namespace }),
  });
}

export function unavailable(scheduler: string, open: Openers): string | undefined {
  try {
    open.ipset().close();
    const socket = open.ipvs();
    try {
      probe(socket, scheduler);
    } finally {
      socket.close();
    }
    return undefined;
  } catch (error) {
    if (error instanceof KernelError) return `can't use the IPVS proxier: ${error.message}`;
    throw error;
  }
}

/** One that exists with the scheduler proves that the kernel has it; else one is made for a moment. */
function probe(socket: ReturnType<Openers['ipvs']>, scheduler: string): void {
  if (socket.services().some(service => service.scheduler === scheduler)) return;
  const address = parseIp(PROBE.address);
  if (!address) return;
  const key: ServiceKey = { ...PROBE, address };
  socket.newService({ key, scheduler });
  socket.deleteService(key);
}
