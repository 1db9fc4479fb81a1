import { type ProgrammedLease, reachesVersion } from '../../api/index.ts';
import { durationWords } from '../../lib/duration-words.ts';
import type { ReadyNode } from './nodes.ts';
import type { MissingNode } from './report.ts';
import type { Target } from './target.ts';

/** Undefined if the Lease says that the node has the Service. Otherwise what is missing. */
export function missingOn(
  node: ReadyNode,
  lease: ProgrammedLease | undefined,
  target: Target,
  now: number,
): MissingNode | undefined {
  const missing = (cause: MissingNode['cause'], message: string): MissingNode => ({ node: node.name, cause, message });
  if (!lease) return missing('no-lease', 'it has no Lease: does its proxy run with --report-programmed?');
  if (node.bootId !== undefined && lease.bootId !== undefined && node.bootId !== lease.bootId)
    return missing('booted', 'it was booted since its proxy last wrote the Lease');
  const hasServices = reachesVersion(lease.services, target.services);
  const hasSlices = target.endpointSlices === undefined || reachesVersion(lease.endpointSlices, target.endpointSlices);
  const ageSeconds = (now - lease.renewedAt) / 1000;
  if (!(ageSeconds <= lease.durationSeconds)) return missing('stale', staleText(ageSeconds));
  if (!hasServices || !hasSlices) return missing('behind', behindText(lease));
  if (lease.setAside.includes(target.service))
    return missing('set-aside', `it could not program the Service: there, run kube-proxy explain ${target.service}`);
  if (lease.setAsideCount > lease.setAside.length)
    return missing('behind', 'it has set aside so many Services that its Lease does not name them all');
  return undefined;
}

function staleText(ageSeconds: number): string {
  const age = Number.isFinite(ageSeconds) ? `${durationWords(ageSeconds)} ago` : 'at an unknown time';
  return `its Lease was last renewed ${age}: does its proxy run?`;
}

function behindText({ services = 'none', endpointSlices = 'none' }: ProgrammedLease): string {
  return `it has Services up to version ${services} and EndpointSlices up to version ${endpointSlices}`;
}
