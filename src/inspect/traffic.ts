import { FIGURES, plusFigures, type ServicePortTraffic, type TrafficFigures } from '../modes/index.ts';
import type { Family } from '../net/index.ts';
import { objectAnswer } from './answers.ts';
import type { Route } from './route.ts';
import { serviceKey } from './service.ts';

export const TRAFFIC_SCHEMA = 'pointsman.traffic/v1';

/** What one Service carried. `/v1/traffic?service=ns/name` */
export interface TrafficAnswer {
  readonly service: string;
  /** The mode counts at all. Without it, there are no ports. */
  readonly isCounted: boolean;
  readonly ports: readonly PortTraffic[];
}

/** A figure that the mode does not count is missing. */
export interface PortTraffic extends TrafficFigures {
  readonly family: Family;
  /** Empty if the port has no name. */
  readonly name: string;
  /** The busiest hundred. Empty if the mode counts no endpoints. */
  readonly endpoints: readonly EndpointTraffic[];
}

export interface EndpointTraffic extends TrafficFigures {
  /** `10.244.1.2:8080` */
  readonly address: string;
}

type ReadTraffic = () => Promise<readonly ServicePortTraffic[] | undefined>;

const MAX_ENDPOINTS = 100;

export function trafficRoute(read: ReadTraffic): Route {
  return {
    path: '/v1/traffic',
    about: 'what one Service carried, by port and by endpoint, as far as the mode counts',
    parameters: { service: { about: 'NAMESPACE/NAME, or NAME in the namespace default', isRequired: true } },
    readsKernel: true,
    async answer(query) {
      const service = serviceKey(query, 'service');
      const traffic = await read();
      const ports = (traffic ?? []).filter(port => port.service === service).map(portTraffic);
      const answer: TrafficAnswer = { service, isCounted: traffic !== undefined, ports };
      return objectAnswer(TRAFFIC_SCHEMA, answer);
    },
  };
}

function portTraffic({ family, port, service: _, endpoints, ...figures }: ServicePortTraffic): PortTraffic {
  const busiest = [...(endpoints ?? [])].sort(([, a], [, b]) => activity(b) - activity(a)).slice(0, MAX_ENDPOINTS);
  return {
    family,
    name: port,
    ...figures,
    endpoints: busiest.map(([address, endpoint]) => ({ address, ...endpoint })),
  };
}

function activity({ connections = 0, active = 0 }: TrafficFigures): number {
  return connections + active;
}

/** What each Service carried, summed up over its ports. What no Service has is not counted. */
export interface ServiceTraffic {
  readonly counted: readonly (keyof TrafficFigures)[];
  of(service: string): TrafficFigures;
}

export function trafficByService(traffic: readonly ServicePortTraffic[]): ServiceTraffic {
  const services = new Map<string, TrafficFigures>();
  for (const port of traffic) services.set(port.service, plusFigures(services.get(port.service), port));
  const counted = FIGURES.filter(figure => traffic.some(port => port[figure] !== undefined));
  const zero = Object.fromEntries(counted.map(figure => [figure, 0]));
  return { counted, of: service => ({ ...zero, ...services.get(service) }) };
}
