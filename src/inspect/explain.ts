import { objectAnswer } from './answers.ts';
import type { Query, Route } from './route.ts';

/** The texts of a question, as the command line has them. */
export interface ExplainRequest {
  /** A pod, an address, `node` or `outside`. */
  readonly from: string | undefined;
  /** `SERVICE[:PORT]` or `IP:PORT[/udp]`. */
  readonly to: string;
  /** Connect to each endpoint from the node. */
  readonly probe: boolean;
}

/** Returns the explanation as plain data with its schema. Throws a `QueryError` for a question that has no meaning. */
export type AnswerQuestion = (request: ExplainRequest, disconnected: AbortSignal) => Promise<ExplainAnswer>;

export interface ExplainAnswer {
  readonly schema: string;
}

export function explainRoute(explain: AnswerQuestion): Route {
  return {
    path: '/v1/explain',
    about: 'why a connection gets what it gets',
    parameters: {
      from: { about: 'the caller: a pod, an address, node or outside' },
      to: { about: 'SERVICE[:PORT] or IP:PORT[/udp]', isRequired: true },
      probe: { about: 'connect to each endpoint from the node', words: ['true', 'false'] },
    },
    readsKernel: true,
    async answer(query) {
      const { schema, ...rest } = await explain(requestOf(query), query.disconnected);
      return objectAnswer(schema, rest);
    },
  };
}

function requestOf(query: Query): ExplainRequest {
  return { from: query.get('from'), to: query.get('to') ?? '', probe: query.get('probe') === 'true' };
}
