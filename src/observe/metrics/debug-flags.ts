import { goQuote } from '../../lib/go-quote.ts';
import type { HttpAnswer, HttpRequest } from '../http/index.ts';

const LONGEST_VALUE = 100;
/** Verbosity is an integer of 32 bits. */
const MOST = 2 ** 31 - 1;

/** `/debug/flags/v`: how much is logged, changed while the proxy runs. Whatever else is asked for gets a list of flags. */
export async function debugFlagsAnswer(
  { path, method, text }: HttpRequest,
  setVerbosity: (level: number) => void,
): Promise<HttpAnswer> {
  if (path !== '/debug/flags/v') return index();
  if (method !== 'PUT') return plain(406, 'unsupported http method\n');
  const value = (await text(LONGEST_VALUE)) ?? '';
  const problem = problemWith(value);
  if (problem !== undefined) return plain(400, `${problem}\n`);
  setVerbosity(Number(value));
  return plain(200, `successfully set klog.logging.verbosity to ${value}\n`);
}

function problemWith(value: string): string | undefined {
  const parsing = (what: string, why: string) => `strconv.${what}: parsing ${goQuote(value)}: ${why}`;
  if (!/^\d+$/.test(value)) return parsing('ParseUint', 'invalid syntax');
  if (Number(value) >= 2 ** 32) return parsing('ParseUint', 'value out of range');
  if (Number(value) <= MOST) return undefined;
  return `failed set klog.logging.verbosity ${value}: ${parsing('ParseInt', 'value out of range')}`;
}

function plain(status: number, body: string): HttpAnswer {
  return { status, headers: { 'Content-Type': 'text/plain', 'X-Content-Type-Options': 'nosniff' }, body };
}

function index(): HttpAnswer {
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
