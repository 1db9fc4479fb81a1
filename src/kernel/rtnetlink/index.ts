export { type Address, type AddressFilter, AddressFlag, type NewAddress, Scope } from './address.ts';
export { type Link, LinkFlag, type LinkRef } from './link.ts';
export { type RouteEvent, type RouteHandlers, RouteMonitor } from './monitor.ts';
export type { NamespaceRef } from './namespace-fd.ts';
export type { NewLink, Peer } from './new-link.ts';
export { type NewRoute, type Route, type RouteFilter, RouteTable, type RouteType } from './route.ts';
export type { LinkChange } from './set-link.ts';
export { RouteSocket } from './socket.ts';
