import type { QuestionTexts } from '../explain/index.ts';
import { objectAnswer } from './answers.ts';
import type { Query, Route } from './route.ts';

/** Returns the explanation as plain data with its schema. Throws a `QueryError` for a question that has no meaning. */
export type AnswerQuestion = (request: QuestionTexts) => Promise<ExplainAnswer>;

export interface ExplainAnswer {
  readonly schema: string;
}

export function explainRoute(explain: AnswerQuestion): Route {
  return {
    path: '/v1/explain',
    about: 'why a connection gets what it gets',
    parameters: {
      from: { about: 'the caller: a name of a pod, an address, pod, node or outside' },
      to: { about: 'SERVICE[:PORT] or IP:PORT[/udp]', isRequired: true },
      probe: { about: 'connect to each endpoint from the node', words: ['true', 'false'] },
    },
    readsKernel: true,
    async answer(query) {
      const { schema, ...rest } = await explain(requestOf(query));
      return objectAnswer(schema, rest);
    },
  };
}

function requestOf(query: Query): QuestionTexts {
  return { from: query.get('from'), to: query.get('to') ?? '', probe: query.get('probe') === 'true' };
}
