export { forwardTo, type OpenQuestion } from './forward.ts';
export { type PageHandlerOptions, pageHandler } from './handler.ts';
export { PAGE_ACTIONS, PAGE_SCHEMA, type PageAction, type PageInfo } from './info.ts';
export { serviceFromPlans } from './known-service.ts';
export { PageServer, type PageServerOptions } from './server.ts';
export { DEFAULT_PAGE_ADDRESS, isOpenAddress, type PageAddress, type PageFiles } from './settings.ts';
export { TOKEN_HEADER } from './token.ts';
export { type TraceRouteOptions, traceRoute } from './trace.ts';
export type * from './trace-lines.ts';
