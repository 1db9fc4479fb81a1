import { goQuote } from '../../lib/go-quote.ts';
import type { HttpAnswer, HttpRequest } from '../http/index.ts';

const MAX_VALUE_BYTES = 100;
/** klog's verbosity is an int32. */
const MAX_VERBOSITY = 2 ** 31 - 1;

/** `PUT /debug/flags/v` sets the log verbosity. Every other path gets a list of the flags. */
export async function debugFlagsAnswer(
  { path, method, text }: HttpRequest,
  setVerbosity: (level: number) => void,
): Promise<HttpAnswer> {
  if (path !== '/debug/flags/v') return listFlags();
  if (method !== 'PUT') return plain(406, 'unsupported http method\n');
  const value = (await text(MAX_VALUE_BYTES)) ?? '';
  const error = verbosityError(value);
  if (error !== undefined) return plain(400, `${error}\n`);
  setVerbosity(Number(value));
  return plain(200, `successfully set klog.logging.verbosity to ${value}\n`);
}

/** Go's error for a value that is no verbosity. */
function verbosityError(value: string): string | undefined {
  const parsing = (parser: string, reason: string) => `strconv.${parser}: parsing ${goQuote(value)}: ${reason}`;
  if (!/^\d+$/.test(value)) return parsing('ParseUint', 'invalid syntax');
  if (Number(value) >= 2 ** 32) return parsing('ParseUint', 'value out of range');
  if (Number(value) <= MAX_VERBOSITY) return undefined;
  return `failed set klog.logging.verbosity ${value}: ${parsing('ParseInt', 'value out of range')}`;
}

function plain(status: number, body: string): HttpAnswer {
  return { status, headers: { 'Content-Type': 'text/plain', 'X-Content-Type-Options': 'nosniff' }, body };
}

function listFlags(): HttpAnswer {
  const body = `<html>
<head>
<title>/debug/flags/</title>
</head>
<body>
/debug/flags/<br>
<br>
flags:<br>
<table>
<tr>v<br>
</table>
<br>
full flags configurable<br>
</body>
</html>
`;
  return { status: 200, headers: { 'Content-Type': 'text/html; charset=utf-8' }, body };
}
