import type { ApiClient } from '../../client/index.ts';
import { withoutSecrets } from '../../lib/secrets.ts';
import type { Event } from './event.ts';

/** The outcome of one attempt to write an Event. */
export type Outcome =
  | { readonly kind: 'written' }
  /** A retry may succeed. */
  | { readonly kind: 'failed'; readonly error: string }
  /** The API server will never accept it. */
  | { readonly kind: 'refused'; readonly error: string }
  /** The Event of the series does not exist any more. */
  | { readonly kind: 'missing' };

const MAX_ANSWER_BYTES = 4096;

export function createEvent(client: ApiClient, event: Event, signal: AbortSignal): Promise<Outcome> {
  return send(client, 'POST', eventsPath(event), 'application/json', event, signal);
}

/** Writes how often the Event occurred, and when it last did. */
export async function patchSeries(client: ApiClient, event: Event, signal: AbortSignal): Promise<Outcome> {
  const path = `${eventsPath(event)}/${encodeURIComponent(event.metadata.name)}`;
  const patch = { series: event.series };
  return send(client, 'PATCH', path, 'application/strategic-merge-patch+json', patch, signal);
}

function eventsPath({ metadata }: Event): string {
  return `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(metadata.namespace)}/events`;
}

async function send(
  client: ApiClient,
  method: 'POST' | 'PATCH',
  path: string,
  contentType: string,
  object: object,
  signal: AbortSignal,
): Promise<Outcome> {
  const body = Buffer.from(withoutSecrets(JSON.stringify(object)));
  const response = await client.request({ method, path, accept: 'application/json', contentType, body, signal });
  const answer = await textOf(response.body);
  return outcomeOf(method, response.status, answer);
}

function outcomeOf(method: 'POST' | 'PATCH', status: number, answer: string): Outcome {
  if (status >= 200 && status < 300) return { kind: 'written' };
  // The Event exists: an earlier attempt wrote it, but its answer was lost.
  if (status === 409 && method === 'POST') return { kind: 'written' };
  if (status === 404 && method === 'PATCH') return { kind: 'missing' };
  const error = `the API server answered ${status}: ${answer}`;
  return { kind: status === 429 || status >= 500 ? 'failed' : 'refused', error };
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    if (size < MAX_ANSWER_BYTES) chunks.push(chunk);
    size += chunk.length;
  }
  return Buffer.concat(chunks).toString('utf8', 0, MAX_ANSWER_BYTES);
}
