import type { Session } from 'node:inspector';
import { systemClock } from '../../lib/clock.ts';
import { sleep } from '../../lib/sleep.ts';
import { type HttpAnswer, type HttpRequest, redirectAnswer, textAnswer } from '../http/index.ts';

const DEFAULT_SECONDS = 30;
const MAX_SECONDS = 300;

/** A kind of profile that V8 takes from a start to a stop. */
interface Profiler {
  readonly fileName: string;
  start(session: Session): Promise<void>;
  stop(session: Session): Promise<unknown>;
}

const CPU: Profiler = {
  fileName: 'profile.cpuprofile',
  async start(session) {
    await post(session, 'Profiler.enable');
    await post(session, 'Profiler.start');
  },
  stop: async session => (await post<{ profile: unknown }>(session, 'Profiler.stop')).profile,
};

/** It has sizes by the function that allocated them. A heap snapshot would have every string: tokens and keys, too. */
const HEAP: Profiler = {
  fileName: 'heap.heapprofile',
  async start(session) {
    await post(session, 'HeapProfiler.startSampling');
  },
  stop: async session => (await post<{ profile: unknown }>(session, 'HeapProfiler.stopSampling')).profile,
};

/** Each profile slows the process down and takes memory, so one runs at a time, whatever its kind. */
let isProfiling = false;

/** Profiles of the running process, in the format of the developer tools of Chrome and VS Code. */
export function pprofAnswer(request: HttpRequest): HttpAnswer | Promise<HttpAnswer> {
  switch (request.path) {
    case '/debug/pprof':
      return redirectAnswer(302, 'Found', '/debug/pprof/', request.method);
    case '/debug/pprof/':
      return index();
    case '/debug/pprof/profile':
      return profileAnswer(CPU, request);
    case '/debug/pprof/heap':
      return profileAnswer(HEAP, request);
    default:
      return unknownProfile();
  }
}

function index(): HttpAnswer {
  const body = `<html><head><title>/debug/pprof/</title></head><body>
<a href="profile?seconds=${DEFAULT_SECONDS}">profile</a>: CPU profile of the next ?seconds=N, a .cpuprofile<br>
<a href="heap?seconds=${DEFAULT_SECONDS}">heap</a>: memory that the next ?seconds=N allocate and keep, by function, a .heapprofile<br>
</body></html>
`;
  const headers = { 'Content-Type': 'text/html; charset=utf-8', 'X-Content-Type-Options': 'nosniff' };
  return { status: 200, headers, body };
}

/** With this header `go tool pprof` shows the text as an error. */
function unknownProfile(): HttpAnswer {
  const answer = textAnswer(404, 'Unknown profile\n');
  return { ...answer, headers: { ...answer.headers, 'X-Go-Pprof': '1' } };
}

async function profileAnswer(profiler: Profiler, { query, disconnected }: HttpRequest): Promise<HttpAnswer> {
  const seconds = Number(query.get('seconds') ?? DEFAULT_SECONDS);
  if (!(seconds > 0 && seconds <= MAX_SECONDS)) {
    return textAnswer(400, `seconds must be more than 0 and at most ${MAX_SECONDS}\n`);
  }
  if (isProfiling) return textAnswer(503, 'another profile is being taken; only one runs at a time\n');
  isProfiling = true;
  try {
    const body = JSON.stringify(await takeProfile(profiler, seconds, disconnected));
    const disposition = `attachment; filename="${profiler.fileName}"`;
    return { status: 200, headers: { 'Content-Type': 'application/json', 'Content-Disposition': disposition }, body };
  } finally {
    isProfiling = false;
  }
}

/** Ends after the time, or earlier when the caller disconnects. */
async function takeProfile(profiler: Profiler, seconds: number, disconnected: AbortSignal): Promise<unknown> {
  const { Session } = await import('node:inspector');
  const session = new Session();
  session.connect();
  try {
    await profiler.start(session);
    await sleep(seconds * 1000, systemClock, disconnected);
    return await profiler.stop(session);
  } finally {
    session.disconnect();
  }
}

function post<T = unknown>(session: Session, method: string): Promise<T> {
  return new Promise((resolve, reject) =>
    session.post(method, (error, result) => (error ? reject(error) : resolve(result as T))),
  );
}
