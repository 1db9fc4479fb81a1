import type { Clock } from '../../lib/clock.ts';
import {
  type HttpAnswer,
  type HttpHandler,
  type HttpRequest,
  jsonAnswer,
  NOT_FOUND,
  redirectToClean,
  textAnswer,
} from '../http/index.ts';
import type { CheckResult, Checks } from './checks.ts';
import { goTime, ZERO_TIME } from './go-time.ts';
import type { ProxyHealth } from './proxy-health.ts';

export interface ProxyHealthServerOptions {
  readonly health: ProxyHealth;
  readonly checks: Checks;
  readonly clock: Clock;
  /** For metrics. */
  readonly answered?: ((path: '/healthz' | '/livez', status: number) => void) | undefined;
}

/**
 * Answers at healthzBindAddress. Load balancers ask `/healthz` whether the node may get traffic, the kubelet asks
 * `/livez` whether the process must be restarted and `/readyz` whether the pod is ready.
 */
export function proxyHealthHandler(options: ProxyHealthServerOptions): HttpHandler {
  return request => {
    const elsewhere = redirectToClean(request);
    if (elsewhere) return elsewhere;
    switch (request.path) {
      case '/healthz':
      case '/livez': {
        const answer = healthAnswer(options, request.path);
        options.answered?.(request.path, answer.status);
        return answer;
      }
      case '/readyz':
        return readyAnswer(options, request);
      default:
        return NOT_FOUND;
    }
  };
}

function healthAnswer({ health, clock }: ProxyHealthServerOptions, path: '/healthz' | '/livez'): HttpAnswer {
  const now = goTime(clock.now());
  const forNode = path === '/healthz';
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
    nodeEligible: forNode ? nodeEligible : undefined,
    healthy,
    status: families.length > 0 ? Object.fromEntries(families) : undefined,
  };
  return jsonAnswer(ok ? 200 : 503, JSON.stringify(body));
}

function timeText(ms: number | undefined): string {
  return ms === undefined ? ZERO_TIME : goTime(ms);
}

function readyAnswer({ health, checks, clock }: ProxyHealthServerOptions, { query }: HttpRequest): HttpAnswer {
  const results = [...syncResults(health, clock.now()), ...checks.run()];
  const ready = results.every(({ reason }) => reason === undefined);
  if (ready && !query.has('verbose')) return textAnswer(200, 'ok');
  const lines = [...results.map(lineOf), `readyz check ${ready ? 'passed' : 'failed'}`];
  return textAnswer(ready ? 200 : 503, lines.map(line => `${line}\n`).join(''));
}

/** Unlike health, which has patience, this is no longer well as soon as the kernel refuses what it should have. */
function syncResults(health: ProxyHealth, now: number): CheckResult[] {
  if (!health.hasStarted) return [{ name: 'start', reason: 'the proxy is starting' }];
  return [...health.families()].map(([family, { reason, error, lastUpdated = now }]) => ({
    name: `sync-${family}`,
    reason: reason ?? (error === undefined ? undefined : `the last sync failed: ${error}`),
    note: `last succeeded ${Math.round((now - lastUpdated) / 1000)} s ago`,
  }));
}

function lineOf({ name, reason, note }: CheckResult): string {
  if (reason !== undefined) return `[-]${name} failed: ${oneLine(reason)}`;
  return note === undefined ? `[+]${name} ok` : `[+]${name} ok: ${oneLine(note)}`;
}

/** One line a check, whatever there is to say. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
