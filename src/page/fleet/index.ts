export type { FleetAnswer, FleetClient, FleetRequest } from './client.ts';
export type { PageTarget } from './page-target.ts';
export { type FleetOptions, fleetRoutes } from './routes.ts';
export type * from './rows.ts';
