import { Breaks } from '../../lib/breaks.ts';
import { joinHostPort } from '../../net/index.ts';
import type { ConnectedSocket } from '../mode.ts';
import type { FrontendIndex } from './frontend-index.ts';
import type { ServicePortTraffic, TrafficFigures } from './service-port-traffic.ts';

/** How many sockets are connected to each endpoint of each service port. */
export async function* openSockets(
  sockets: Iterable<ConnectedSocket>,
  index: FrontendIndex,
): AsyncGenerator<ServicePortTraffic> {
  const breaks = new Breaks();
  const counts = new Map<string, { readonly socket: ConnectedSocket; count: number }>();
  for (const socket of sockets) {
    const { service, endpoint } = socket;
    const id = `${service.ip} ${service.port} ${endpoint.ip} ${endpoint.port}`;
    const known = counts.get(id);
    if (known) known.count++;
    else counts.set(id, { socket, count: 1 });
    if (breaks.isDue) await breaks.take();
  }
  for (const { socket, count: active } of counts.values()) {
    const { service: asked, endpoint } = socket;
    const found = index.tcp(asked.ip, asked.port);
    if (!found) continue;
    const [family, { service, port }] = found;
    const endpoints = new Map<string, TrafficFigures>([[joinHostPort(endpoint.ip, endpoint.port), { active }]]);
    yield { family, service, port: port.name, active, endpoints };
  }
}
