export { Balancer } from './balancer.ts';
export { endConnections } from './end-connections.ts';
export { type OpenRelay, openRelay, type RelayOptions } from './open-relay.ts';
export { type MutableCounters, newCounters, type ProxyCounters } from './relay-counters.ts';
export { RelayResources } from './relay-resources.ts';
export { type ListenerOptions, TcpListener } from './tcp-listener.ts';
export { UdpListener } from './udp-listener.ts';
