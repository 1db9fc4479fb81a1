import type { Session } from 'node:inspector';
import { systemClock } from '../../lib/clock.ts';
import { sleep } from '../../lib/sleep.ts';
import { type HttpAnswer, type HttpRequest, redirectAnswer, textAnswer } from '../http/index.ts';

const USUAL_SECONDS = 30;
const MOST_SECONDS = 300;

let profiling = false;

/** Profiles of the running process, in the form that the developer tools of Chrome and VS Code open. */
export function pprofAnswer(request: HttpRequest): HttpAnswer | Promise<HttpAnswer> {
  switch (request.path) {
    case '/debug/pprof':
      return redirectAnswer(302, 'Found', '/debug/pprof/', request.method);
    case '/debug/pprof/':
      return index();
    case '/debug/pprof/profile':
      return cpuProfile(request);
    case '/debug/pprof/heap':
      return heapSnapshot();
    default:
      return unknownProfile();
  }
}

function index(): HttpAnswer {
  const body = `<html><head><title>/debug/pprof/</title></head><body>
<a href="profile?seconds=${USUAL_SECONDS}">profile</a>: where CPU time goes for ?seconds=N, a .cpuprofile<br>
<a href="heap">heap</a>: what memory is used for, a .heapsnapshot; stops the process for seconds and needs as much memory again<br>
</body></html>
`;
  const headers = { 'Content-Type': 'text/html; charset=utf-8', 'X-Content-Type-Options': 'nosniff' };
  return { status: 200, headers, body };
}

/** `go tool pprof` knows by the header that the text is for people. */
function unknownProfile(): HttpAnswer {
  const answer = textAnswer(404, 'Unknown profile\n');
  return { ...answer, headers: { ...answer.headers, 'X-Go-Pprof': '1' } };
}

async function cpuProfile({ query, gone }: HttpRequest): Promise<HttpAnswer> {
  const seconds = Number(query.get('seconds') ?? USUAL_SECONDS);
  if (!(seconds > 0 && seconds <= MOST_SECONDS)) {
    return textAnswer(400, `seconds must be more than 0 and at most ${MOST_SECONDS}\n`);
  }
  if (profiling) return textAnswer(500, 'Could not enable CPU profiling: cpu profiling already in use\n');
  profiling = true;
  const { Session } = await import('node:inspector');
  const session = new Session();
  session.connect();
  try {
    await post(session, 'Profiler.enable');
    await post(session, 'Profiler.start');
    await sleep(seconds * 1000, systemClock, gone);
    return file('profile.cpuprofile', JSON.stringify(await stop(session)));
  } finally {
    session.disconnect();
    profiling = false;
  }
}

function post(session: Session, method: string): Promise<void> {
  return new Promise((resolve, reject) => session.post(method, error => (error ? reject(error) : resolve())));
}

function stop(session: Session): Promise<object> {
  return new Promise((resolve, reject) =>
    session.post('Profiler.stop', (error, result) => (error ? reject(error) : resolve(result.profile))),
  );
}

async function heapSnapshot(): Promise<HttpAnswer> {
  const { default: v8 } = await import('node:v8');
  return file('heap.heapsnapshot', v8.getHeapSnapshot());
}

function file(name: string, body: HttpAnswer['body']): HttpAnswer {
  const headers = { 'Content-Type': 'application/json', 'Content-Disposition': `attachment; filename="${name}"` };
  return { status: 200, headers, body };
}
