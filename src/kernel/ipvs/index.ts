export { encodeChange, type IpvsChange, printChange } from './change.ts';
export type { Config } from './config.ts';
export {
  type Destination,
  type DestinationEntry,
  type DestinationKey,
  type Forward,
  printDestination,
} from './destination.ts';
export { type Info, printInfo } from './info.ts';
export { loadIpvs } from './module.ts';
export { type PersistentClient, parsePersistence, readPersistence } from './persistence.ts';
export { printService, type Service, type ServiceEntry, ServiceFlag } from './service.ts';
export { type IpvsProtocol, keyFamily, printKey, type ServiceKey } from './service-key.ts';
export { IpvsSocket } from './socket.ts';
export { printStats, type Stats } from './stats.ts';
