import { KernelError, settingErrorText, withModuleAdvice } from '../../kernel/errors.ts';
import { IpsetSocket } from '../../kernel/ipset/index.ts';
import { IpvsSocket, loadIpvs, type ServiceKey } from '../../kernel/ipvs/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { errorText } from '../../lib/error-text.ts';
import { FatalError } from '../../lib/fatal-error.ts';
import type { Ip } from '../../net/index.ts';
import type { StartContext, StartEvent } from '../descriptor.ts';
import { applyKernelSettings } from './settings/kernel-settings.ts';
import type { IpvsOptions } from './settings/options.ts';
import { DEFAULT_SCHEDULER } from './wanted/scheduler.ts';

/** Upstream's Event. The proxy also logs its note as an error when it starts. */
export const IPVS_DEPRECATION: StartEvent = {
  type: 'Warning',
  reason: 'IPVSDeprecation',
  action: 'StartKubeProxy',
  note: "The ipvs proxier has been deprecated and will be disabled by default in Kubernetes 1.40 and removed in Kubernetes 1.43. Migrate to the 'nftables' proxier instead.",
};

/** An address from a range for documentation, which no machine has. */
const PROBE_ADDRESS = '198.51.100.0' as Ip;
const PROBE_PORT = 20000;

/** Opens what the check needs of the kernel. */
export interface SupportSockets {
  ipset(): Pick<IpsetSocket, 'close'>;
  ipvs(): Pick<IpvsSocket, 'services' | 'newService' | 'deleteService' | 'close'>;
}

/** Loads the kernel's modules and sets its settings. Throws a `FatalError` if the machine cannot run ipvs mode. */
export async function prepareIpvs(options: IpvsOptions, { log }: Pick<StartContext, 'log'>): Promise<void> {
  const reason = await ipvsUnavailable(options.scheduler);
  if (reason !== undefined) throw new FatalError(reason);
  log.error('server', IPVS_DEPRECATION.note);
  try {
    applyKernelSettings(options, error =>
      log.error('ipvs', 'Could not set the timeouts of ipvs', { err: errorText(error) }),
    );
  } catch (error) {
    throw new FatalError(`unable to create proxier: ${settingErrorText(error)}`);
  }
}

/** The reason why the machine cannot run the mode; undefined if it can. Loads the modules that the mode needs. */
export async function ipvsUnavailable(
  scheduler: string | undefined,
  namespace?: NetworkNamespace,
): Promise<string | undefined> {
  await loadIpvs();
  return unavailable(scheduler || DEFAULT_SCHEDULER, {
    ipset: () => IpsetSocket.open({ namespace }),
    ipvs: () => IpvsSocket.open({ namespace }),
  });
}

export function unavailable(scheduler: string, open: SupportSockets): string | undefined {
  try {
    advising('ip_set', () => open.ipset().close());
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

/** Makes a virtual server and deletes it again, unless one exists that proves that the kernel has the scheduler. */
function probe(socket: ReturnType<SupportSockets['ipvs']>, scheduler: string): void {
  if (socket.services().some(service => service.scheduler === scheduler)) return;
  const key: ServiceKey = { kind: 'address', protocol: 'TCP', address: PROBE_ADDRESS, port: PROBE_PORT };
  advising(`ip_vs_${scheduler}`, () => socket.newService({ key, scheduler }));
  socket.deleteService(key);
}

/** If the work fails because the kernel may lack a module, the error says how to load it. */
function advising<T>(module: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw withModuleAdvice(error, module);
  }
}
