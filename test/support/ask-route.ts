import { inspectionHandler } from '../../src/inspect/handler.ts';
import type { Route } from '../../src/inspect/route.ts';

/** What a route of the inspection API answers. The lines are JSON. */
export async function askRoute(route: Route, url: string, disconnected = new AbortController().signal) {
  const { pathname, search, searchParams: query } = new URL(url, 'http://localhost');
  const handle = inspectionHandler({ routes: [route] });
  const answer = await handle({
    method: 'GET',
    path: pathname,
    rawPath: pathname,
    rawQuery: search.slice(1),
    query,
    headers: {},
    peer: '',
    text: async () => '',
    disconnected,
  });
  let text = '';
  if (typeof answer.body === 'string') text = answer.body;
  else if (Symbol.asyncIterator in answer.body) for await (const part of answer.body) text += part;
  const lines = text.split('\n').filter(line => line !== '');
  return { status: answer.status, lines: lines.map(line => JSON.parse(line)) };
}
