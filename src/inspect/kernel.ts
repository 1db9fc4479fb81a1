import type { Facts, KernelFacts } from '../explain/index.ts';
import { errorText } from '../lib/error-text.ts';
import { entryState, type KernelReading } from '../modes/index.ts';
import type { Family } from '../net/index.ts';
import type { ServicePortPlan } from '../plan/index.ts';
import { objectAnswer } from './answers.ts';
import { QueryError, type Route } from './route.ts';
import { serviceKey } from './service.ts';
import { KERNEL_SCHEMA, type KernelDetail, type PortKernelDetail } from './service-detail.ts';
import { missingServiceText } from './services-missing.ts';

/** A Service may have hundreds of ports, and each costs a reading of the kernel. */
const MAX_MS = 5000;
/** The answer is made in one go. A port that has been read is never cut. */
const MAX_ENTRIES = 10_000;

export function kernelRoute(facts: () => Facts): Route {
  return {
    path: '/v1/kernel',
    about: 'what the kernel has for a Service, read now, beside what the mode wants',
    parameters: { service: { about: 'NAMESPACE/NAME, or NAME in the namespace default', isRequired: true } },
    readsKernel: true,
    async answer(query) {
      const now = facts();
      const key = serviceKey(query, 'service');
      if (!now.objects.service(key)) {
        throw new QueryError(await missingServiceText(key, now.objects.services()), 404);
      }
      if (!now.kernel) throw new QueryError('this proxy cannot read the kernel');
      return objectAnswer(KERNEL_SCHEMA, await kernelDetail(key, now, now.kernel));
    },
  };
}

async function kernelDetail(key: string, { state, families }: Facts, kernel: KernelFacts): Promise<KernelDetail> {
  const end = performance.now() + MAX_MS;
  const ports: PortKernelDetail[] = [];
  let entries = 0;
  for (const family of families) {
    for (const plan of state.family(family).planner.plansOf(key)) {
      const left = performance.now() > end ? LATE : entries >= MAX_ENTRIES ? MANY : undefined;
      const reading = left ?? (await readPort(family, plan, kernel));
      entries += reading.entries.length;
      ports.push(portDetail(family, plan, reading));
    }
  }
  return { ports };
}

const LATE: KernelReading = { entries: [], affinity: [], incomplete: 'the ports before it took too long' };
const MANY: KernelReading = { entries: [], affinity: [], incomplete: 'the ports before it have very many entries' };

async function readPort(family: Family, plan: ServicePortPlan, kernel: KernelFacts): Promise<KernelReading> {
  try {
    return await kernel.readBack(family, plan);
  } catch (error) {
    return { entries: [], affinity: [], incomplete: `the proxy could not read the kernel: ${errorText(error)}` };
  }
}

function portDetail(family: Family, { port }: ServicePortPlan, reading: KernelReading): PortKernelDetail {
  return {
    name: port.name,
    protocol: port.protocol,
    family,
    entries: reading.entries.map(entry => ({ ...entry, state: entryState(entry) })),
    affinity: reading.affinity,
    incomplete: reading.incomplete,
  };
}
