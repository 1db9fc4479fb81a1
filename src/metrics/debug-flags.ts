import { type HttpAnswer, type HttpRequest, NOT_FOUND, textAnswer } from '../http/index.ts';

const LONGEST_VALUE = 100;

/** `/debug/flags/v`: how much is logged, changed while the proxy runs. */
export async function debugFlagsAnswer(
  { path, method, text }: HttpRequest,
  setVerbosity: (level: number) => void,
): Promise<HttpAnswer> {
  if (path === '/debug/flags' || path === '/debug/flags/') return index();
  if (path !== '/debug/flags/v') return NOT_FOUND;
  if (method !== 'PUT') return textAnswer(406, 'unsupported http method\n');
  const value = (await text(LONGEST_VALUE)) ?? '';
  if (!/^[+-]?\d{1,9}$/.test(value)) {
    return textAnswer(400, `failed set klog.logging.verbosity ${value}: not an integer\n`);
  }
  setVerbosity(Number(value));
  return textAnswer(200, `successfully set klog.logging.verbosity to ${value}\n`);
}

function index(): HttpAnswer {
  const body =
    '<html><head><title>/debug/flags/</title></head><body>/debug/flags/<br><br>flags:<br>v<br></body></html>\n';
  return { status: 200, headers: { 'Content-Type': 'text/html; charset=utf-8' }, body };
}
