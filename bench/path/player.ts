import { setPriority } from 'node:os';
import { untilAllConnect } from '../scale/connector.ts';
import { answerQuestions } from '../support/role.ts';
import { isTranslated, openServer, type SocketAddress } from '../support/socket-load.ts';
import { type Operation, openUdpServer, runOperation, type Targets } from './operations.ts';

/** The role of clients and servers. */
export const PLAYER = 'player';

export type Question =
  | { readonly kind: 'serve TCP' | 'serve UDP'; readonly address: SocketAddress }
  | { readonly kind: 'until all connect'; readonly addresses: readonly SocketAddress[] }
  | { readonly kind: 'is translated'; readonly service: SocketAddress; readonly endpoint: SocketAddress }
  | { readonly kind: 'run'; readonly operation: Operation; readonly targets: Targets; readonly ms: number };

/** Before other programs that want the same processor. */
const PRIORITY = -10;
const PAUSE_MS = 100;
/** The answer to the question goes out before the process only serves. */
const SERVE_AFTER_MS = 50;

/** In the process of a client or a server. */
export function play(): void {
  setPriority(PRIORITY);
  answerQuestions((question: Question) => {
    switch (question.kind) {
      case 'serve TCP':
        setTimeout(openServer(question.address), SERVE_AFTER_MS);
        return undefined;
      case 'serve UDP':
        setTimeout(openUdpServer(question.address), SERVE_AFTER_MS);
        return undefined;
      case 'until all connect':
        return untilAllConnect(question.addresses, PAUSE_MS);
      case 'is translated':
        return isTranslated(question.service, question.endpoint);
      case 'run':
        return runOperation(question.operation, question.targets, question.ms);
    }
  });
}
