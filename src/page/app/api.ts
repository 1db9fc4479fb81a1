import { denyAccess, token } from './state/token.ts';

/** The proxy refused a question, or did not answer. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The status of HTTP. Undefined if there was no answer at all. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}

type Parameters = Readonly<Record<string, string | undefined>>;

/** Asks the proxy. `path` is `v1/status`: relative, so that the page also works below another path. */
export async function ask<Answer>(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<Answer> {
  const response = await open(path, parameters, signal);
  return (await response.json()) as Answer;
}

/** Reads an answer that is one JSON object a line. */
export async function* askLines<Line>(
  path: string,
  parameters: Parameters = {},
  signal?: AbortSignal,
): AsyncGenerator<readonly Line[], void> {
  const response = await open(path, parameters, signal);
  let rest = '';
  for await (const text of texts(response)) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    yield lines.filter(line => line !== '').map(line => JSON.parse(line) as Line);
  }
}

/** Reads such an answer whose first line is its head. All others are rows. */
export async function* askRows<Row, Head = { readonly schema: string }>(
  path: string,
  parameters: Parameters,
  signal: AbortSignal,
  onHead: (head: Head) => void = () => undefined,
): AsyncGenerator<readonly Row[], void> {
  let hasHead = false;
  for await (const lines of askLines<Row>(path, parameters, signal)) {
    const [first, ...rest] = lines;
    if (hasHead || first === undefined) yield lines;
    else {
      hasHead = true;
      onHead(first as unknown as Head);
      yield rest;
    }
  }
}

/** The parts of an answer as they come. */
export async function* texts(response: Response): AsyncGenerator<string, void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

export async function open(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<Response> {
  const given = Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  const query = new URLSearchParams(given).toString();
  let response: Response;
  try {
    response = await fetch(`${path}${query === '' ? '' : `?${query}`}`, {
      signal: signal ?? null,
      cache: 'no-store',
      // The API server's proxy would take an Authorization header for its own.
      headers: token.value === undefined ? {} : { 'Pointsman-Token': token.value },
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError('The proxy does not answer.');
  }
  if (response.ok) return response;
  const reason = await reasonOf(response);
  if (response.status === 401) denyAccess(reason);
  throw new ApiError(reason, response.status);
}

async function reasonOf(response: Response): Promise<string> {
  const text = await response.text().catch(() => '');
  try {
    const { error } = JSON.parse(text);
    if (typeof error === 'string') return error;
  } catch {
    // Not every answer is JSON.
  }
  return text.trim() || `The proxy answered with the status ${response.status}.`;
}
