import type { Clock } from '../../lib/clock.ts';
import { printable } from '../../lib/printable.ts';
import type { Problem } from '../../lib/problem.ts';
import { shorten } from '../../lib/shorten.ts';
import {
  type HttpAnswer,
  type HttpHandler,
  type HttpRequest,
  jsonAnswer,
  NOT_FOUND,
  redirectToCleanPath,
  textAnswer,
} from '../http/index.ts';
import type { CheckOutcome, CheckResult, Checks } from './checks.ts';
import { goTime, ZERO_TIME } from './go-time.ts';
import type { FamilyHealth, ProxyHealth } from './proxy-health.ts';

export interface ProxyHealthServerOptions {
  readonly health: ProxyHealth;
  readonly checks: Checks;
  readonly clock: Clock;
  /** Called after each answer, for the metrics. */
  readonly onAnswer?: ((path: '/healthz' | '/livez', status: number) => void) | undefined;
}

/** The answer shows at most this many problems of a check. The log has them all. */
const MAX_PROBLEMS = 5;
/** A note or a problem can contain the name of an object. */
const MAX_PART_LENGTH = 1024;

/**
 * The handler for healthzBindAddress. Load balancers ask `/healthz` whether the node may get traffic. The kubelet asks
 * `/livez` whether it must restart the process, and `/readyz` whether the pod is ready.
 */
export function proxyHealthHandler(options: ProxyHealthServerOptions): HttpHandler {
  return request => {
    const redirect = redirectToCleanPath(request);
    if (redirect) return redirect;
    switch (request.path) {
      case '/healthz':
      case '/livez': {
        const answer = healthAnswer(options, request.path, isProbeOfKubelet(request));
        options.onAnswer?.(request.path, answer.status);
        return answer;
      }
      case '/readyz':
        return readyAnswer(options, request);
      default:
        return NOT_FOUND;
    }
  };
}

/**
 * Some distributions probe `/healthz` to decide whether the container must be restarted. The kubelet would then restart
 * a proxy that waits for its API server, again and again, and a proxy on a node that is about to be deleted.
 */
function isProbeOfKubelet({ headers }: HttpRequest): boolean {
  return headers['user-agent']?.startsWith('kube-probe/') ?? false;
}

function healthAnswer(
  { health, clock }: ProxyHealthServerOptions,
  path: '/healthz' | '/livez',
  isProbe: boolean,
): HttpAnswer {
  const now = goTime(clock.now());
  const forNode = path === '/healthz' && !isProbe;
  const nodeEligible = health.nodeEligible;
  const healthy = forNode ? health.healthy : health.alive;
  const ok = healthy && (nodeEligible || !forNode);
  const families = [...health.families()].map(([family, { lastUpdated, alive, healthy }]) => [
    family,
    { lastUpdated: timeText(lastUpdated), healthy: forNode ? healthy : alive },
  ]);
  const body = {
    lastUpdated: ok ? now : timeText(health.lastUpdated),
    currentTime: now,
    nodeEligible: path === '/healthz' ? nodeEligible : undefined,
    healthy,
    status: families.length > 0 ? Object.fromEntries(families) : undefined,
  };
  return jsonAnswer(ok ? 200 : 503, JSON.stringify(body));
}

function timeText(ms: number | undefined): string {
  return ms === undefined ? ZERO_TIME : goTime(ms);
}

/** All checks of `/readyz`, in its order. */
export function readinessResults({
  health,
  checks,
  clock,
}: Pick<ProxyHealthServerOptions, 'health' | 'checks' | 'clock'>): readonly CheckResult[] {
  return [...syncResults(health, clock.now()), ...checks.run()];
}

function readyAnswer(options: ProxyHealthServerOptions, { query }: HttpRequest): HttpAnswer {
  const results = readinessResults(options);
  const isReady = results.every(result => result.isReady);
  if (isReady && !query.has('verbose')) return textAnswer(200, 'ok');
  const lines = [...results.map(resultLine), `readyz check ${isReady ? 'passed' : 'failed'}`];
  return textAnswer(isReady ? 200 : 503, lines.map(line => `${line}\n`).join(''));
}

function syncResults(health: ProxyHealth, now: number): CheckResult[] {
  if (!health.hasStarted) return [{ name: 'start', isReady: false, note: 'the proxy is starting' }];
  return [...health.families()].map(([family, status]) => ({ name: `sync-${family}`, ...syncOutcome(status, now) }));
}

/** The proxy is not ready as soon as a sync fails. Only its health waits until the work is late. */
function syncOutcome(
  { alive, pendingMs = 0, lastUpdated, error }: FamilyHealth,
  now: number,
): CheckOutcome & { readonly isReady: boolean } {
  const problems = error === undefined ? [] : [{ message: `the last sync failed: ${error}` }];
  if (!alive) return { isReady: false, note: `work has been pending for ${Math.floor(pendingMs / 1000)} s`, problems };
  if (lastUpdated === undefined) return { isReady: false, note: 'no sync has succeeded yet', problems };
  if (error !== undefined) return { isReady: false, problems };
  return { isReady: true, note: `last succeeded ${Math.round((now - lastUpdated) / 1000)} s ago` };
}

function resultLine({ name, isReady, note, problems = [] }: CheckResult): string {
  const parts = [...(note === undefined ? [] : [note]), ...problems.slice(0, MAX_PROBLEMS).map(problemText)];
  if (problems.length > MAX_PROBLEMS) parts.push(`${problems.length - MAX_PROBLEMS} more`);
  const head = isReady ? `[+]${name} ok` : `[-]${name} failed`;
  return parts.length === 0 ? head : `${head}: ${parts.map(onOneLine).join('; ')}`;
}

/** Without the place: the name of the check says it. */
function problemText({ object, field, message }: Problem): string {
  const subject = [object, field].filter(part => part !== undefined).join(' ');
  return subject === '' ? message : `${subject}: ${message}`;
}

/** Each check has one line, so that a script can read the answer line by line. */
function onOneLine(text: string): string {
  return printable(shorten(text, MAX_PART_LENGTH).replaceAll(/\s+/g, ' ').trim());
}
