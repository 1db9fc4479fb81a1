import { objectKey, type Service } from '../../api/index.ts';
import { compareTexts } from '../../lib/compare-texts.ts';
import type { LoadedFacts } from '../facts/index.ts';

const MAX_NAMES = 5;

/** Addresses of Services at which a proxy does not answer, although one might expect it. */
export function serviceNotes(services: readonly Service[], { live }: Pick<LoadedFacts, 'live'>): readonly string[] {
  const balanced = services.filter(({ spec }) => spec.type === 'LoadBalancer');
  const ingressOf = ({ status }: Service) => status.loadBalancer.ingress.filter(({ ip }) => ip !== '');
  return [
    ...note(
      'type LoadBalancer, but status.loadBalancer.ingress has no IP address',
      balanced.filter(service => ingressOf(service).length === 0),
    ),
    ...note(
      'the load balancer answers itself (ipMode Proxy), so a proxy does not answer at its address',
      balanced.filter(service => ingressOf(service).some(({ ipMode }) => ipMode === 'Proxy')),
    ),
    ...note(
      'external IPs do not count, because the feature gate AllowServiceExternalIPs is off',
      live.settings.allowExternalIPs ? [] : services.filter(({ spec }) => spec.externalIPs.length > 0),
    ),
  ];
}

function note(text: string, services: readonly Service[]): readonly string[] {
  if (services.length === 0) return [];
  const keys = services.map(({ metadata }) => objectKey(metadata)).sort(compareTexts);
  const more = keys.length > MAX_NAMES ? ` and ${keys.length - MAX_NAMES} more` : '';
  return [`${text}: ${keys.slice(0, MAX_NAMES).join(', ')}${more}`];
}
