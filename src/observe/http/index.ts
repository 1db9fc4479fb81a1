export { type MediaRange, parseAccept } from './accept.ts';
export {
  type HttpAnswer,
  type HttpHandler,
  type HttpRequest,
  type HttpStream,
  jsonAnswer,
  NOT_FOUND,
  textAnswer,
} from './answer.ts';
export { ConnectionTable } from './connection-table.ts';
export { HttpServer, type HttpServerOptions, type HttpServerSettings } from './http-server.ts';
export { type Listen, type ListenAddress, listenHere, listenIn, listenUnix } from './listen.ts';
export type { HttpServerTls } from './open-connection.ts';
export { redirectAnswer, redirectToCleanPath } from './redirect.ts';
export { RetryingHttpServer, type RetryingHttpServerOptions } from './retrying-http-server.ts';
