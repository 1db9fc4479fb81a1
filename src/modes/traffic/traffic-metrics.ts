import type { MetricSet, Sample } from '../../observe/metrics/index.ts';
import { trafficId } from './figures.ts';
import type { ServicePortTraffic, TrafficFigures } from './service-port-traffic.ts';
import { type Shown, TopTotals } from './top-totals.ts';
import type { TrafficReader } from './traffic-reader.ts';

/** Limits the time series: each node has several for each named service port and endpoint. */
const MAX_PORTS = 100;
const MAX_ENDPOINTS = 100;

const PORT = ['service', 'port', 'ip_family'] as const;
const ENDPOINT = [...PORT, 'endpoint'] as const;

type PortLabels = Readonly<Record<'service' | 'port', string>>;
type EndpointLabels = Readonly<Record<'service' | 'port' | 'endpoint', string>>;

const PORTS_REST = `those of all but ${MAX_PORTS} service ports are summed up as other.`;
const ENDPOINTS_REST = `those of all but ${MAX_ENDPOINTS} endpoints are summed up as other.`;

/** Shows the traffic of service ports and endpoints. A figure that the mode does not count has no sample. */
export function registerTraffic(set: MetricSet, reader: TrafficReader): void {
  const totals = new Totals(reader);
  for (const [kind, name, subject] of COUNTERS) {
    set.readCounters(`pointsman_service_${name}`, PORT, `${subject} a service port; ${PORTS_REST}`, () =>
      totals.ports(kind),
    );
  }
  const open = 'Connections that are open now, to';
  set.readGauges('pointsman_service_active_connections', PORT, `${open} a service port; ${PORTS_REST}`, () =>
    totals.ports('active'),
  );
  for (const [kind, name, subject] of COUNTERS) {
    if (kind === 'rejected' || kind === 'dropped') continue;
    set.readCounters(`pointsman_service_endpoint_${name}`, ENDPOINT, `${subject} an endpoint; ${ENDPOINTS_REST}`, () =>
      totals.endpoints(kind),
    );
  }
  set.readGauges(
    'pointsman_service_endpoint_active_connections',
    ENDPOINT,
    `${open} an endpoint; ${ENDPOINTS_REST}`,
    () => totals.endpoints('active'),
  );
}

const COUNTERS = [
  ['connections', 'connections_total', 'New connections to'],
  ['packets', 'packets_total', 'Packets to and from'],
  ['bytes', 'bytes_total', 'Bytes to and from'],
  ['rejected', 'rejected_total', 'Attempts to connect that got an error, at'],
  ['dropped', 'dropped_total', 'Attempts to connect that got no answer, at'],
] as const;

/** Takes each reading once, however many metrics show it. */
class Totals {
  readonly #reader: TrafficReader;
  readonly #ports = new TopTotals<PortLabels>(MAX_PORTS);
  readonly #endpoints = new TopTotals<EndpointLabels>(MAX_ENDPOINTS);
  #taken: readonly ServicePortTraffic[] | undefined;

  constructor(reader: TrafficReader) {
    this.#reader = reader;
  }

  async ports(kind: keyof TrafficFigures): Promise<readonly Sample<(typeof PORT)[number]>[]> {
    await this.#refresh();
    return this.#ports.series.flatMap(({ family, labels = { service: 'other', port: '' }, figures }) => {
      const value = figures[kind];
      return value === undefined ? [] : [{ labels: { ...labels, ip_family: family }, value }];
    });
  }

  async endpoints(kind: keyof TrafficFigures): Promise<readonly Sample<(typeof ENDPOINT)[number]>[]> {
    await this.#refresh();
    const other = { service: 'other', port: '', endpoint: 'other' };
    return this.#endpoints.series.flatMap(({ family, labels = other, figures }) => {
      const value = figures[kind];
      return value === undefined ? [] : [{ labels: { ...labels, ip_family: family }, value }];
    });
  }

  async #refresh(): Promise<void> {
    const reading = await this.#reader.read();
    if (!reading || reading === this.#taken) return;
    this.#taken = reading;
    this.#ports.take(reading.map(shownPort));
    this.#endpoints.take(reading.flatMap(shownEndpoints));
  }
}

function shownPort(traffic: ServicePortTraffic): Shown<PortLabels> {
  const { family, service, port } = traffic;
  return { id: trafficId(traffic), family, labels: { service, port }, figures: traffic };
}

function shownEndpoints(traffic: ServicePortTraffic): readonly Shown<EndpointLabels>[] {
  const { family, service, port, endpoints = new Map<string, TrafficFigures>() } = traffic;
  return Array.from(endpoints, ([endpoint, figures]) => ({
    id: `${trafficId(traffic)} ${endpoint}`,
    family,
    labels: { service, port, endpoint },
    figures,
  }));
}
