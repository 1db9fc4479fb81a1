import type { IncomingMessage } from 'node:http';
import {
  type AskOptions,
  askProxy,
  askProxyText,
  DEFAULT_SOCKET,
  openProxyAnswer,
  readProxyLines,
} from '../inspect/index.ts';
import { networkNamespaceName } from '../kernel/netns.ts';
import { string } from './flags/index.ts';

/** The flag of all commands that ask the running proxy. */
export const SOCKET_FLAG = {
  'inspect-socket': {
    type: string,
    default: DEFAULT_SOCKET,
    word: 'PATH',
    usage: 'socket of the running proxy, which this command asks',
  },
};

/** Asks the proxy of this node. All questions reject with a `ProxyClientError`, whose message says what to do. */
export interface ProxySocket {
  readonly path: string;
  /** The answer as it is, as a stream. */
  open(question: string, options?: AskOptions): Promise<IncomingMessage>;
  /** A question whose answer is one JSON object: `/v1/status`. */
  ask(question: string, options?: AskOptions): Promise<unknown>;
  text(question: string, options?: AskOptions): Promise<string>;
  /** A question whose answer is a stream of JSON objects. */
  lines(question: string, options?: AskOptions): AsyncGenerator<unknown, void>;
}

/**
 * A proxy of another network namespace may listen at the default path, such as one on trial. Its answers would not be
 * about this node.
 */
export function proxySocket(values: { readonly 'inspect-socket': string }): ProxySocket {
  const path = values['inspect-socket'];
  const common = { networkNamespace: path === DEFAULT_SOCKET ? networkNamespaceName() : undefined };
  return {
    path,
    open: (question, options) => openProxyAnswer(path, question, { ...common, ...options }),
    ask: (question, options) => askProxy(path, question, { ...common, ...options }),
    text: (question, options) => askProxyText(path, question, { ...common, ...options }),
    lines: (question, options) => readProxyLines(path, question, { ...common, ...options }),
  };
}
