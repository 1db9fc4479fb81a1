export { type PageHandlerOptions, pageHandler } from './handler.ts';
export { PAGE_SCHEMA, type PageAction, type PageInfo } from './info.ts';
export { serviceFromPlans } from './known-service.ts';
export { type TraceRouteOptions, traceRoute } from './trace.ts';
export type * from './trace-lines.ts';
