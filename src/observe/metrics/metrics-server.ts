import type { Clock } from '../../lib/clock.ts';
import {
  type HttpAnswer,
  type HttpHandler,
  type HttpRequest,
  jsonAnswer,
  NOT_FOUND,
  parseAccept,
  textAnswer,
} from '../http/index.ts';
import { debugFlagsAnswer } from './debug-flags.ts';
import { pprofAnswer } from './pprof.ts';
import { PROCESS_START_MS } from './process-metrics.ts';
import { HealthCheckMetrics, pingAnswer } from './server-healthz.ts';
import { SharedRendering } from './shared-rendering.ts';
import { flagzAnswer, type StatuszInfo, statuszAnswer } from './zpages.ts';

export interface MetricsServerOptions {
  /** All metrics in Prometheus' text format. */
  readonly metrics: () => Promise<string>;
  /** The active mode. */
  readonly mode: () => string;
  /** The current configuration in upstream's file format, `kind` and `apiVersion` first. */
  readonly configz: () => unknown;
  /** Flags and their values. Undefined if the gate ComponentFlagz is off. */
  readonly flagz: (() => ReadonlyMap<string, string>) | undefined;
  /** Undefined if the gate ComponentStatusz is off. */
  readonly statusz: StatuszInfo | undefined;
  readonly profiling: boolean;
  /** Sets the log verbosity, for `/debug/flags/v`. */
  readonly setVerbosity: (level: number) => void;
  readonly clock: Clock;
}

const ESCAPINGS = new Set(['allow-utf-8', 'underscores', 'dots', 'values']);
const TEXT_VERSIONS = new Set([undefined, '0.0.4', '1.0.0']);

/** The handler for metricsBindAddress. */
export function metricsHandler(options: MetricsServerOptions): HttpHandler {
  const slis = new HealthCheckMetrics();
  const metrics = new SharedRendering(options.clock, options.metrics);
  const sliMetrics = new SharedRendering(options.clock, () => slis.text());
  const pages = new Map<string, HttpHandler>([
    ['/healthz', request => pingAnswer(request, slis)],
    ['/healthz/ping', () => plainAnswer('ok')],
    ['/metrics', request => metricsAnswer(metrics, request)],
    ['/metrics/slis', request => slisAnswer(slis, sliMetrics, request)],
    ['/proxyMode', () => textAnswer(200, options.mode())],
    ['/configz', () => jsonAnswer(200, JSON.stringify({ 'kubeproxy.config.k8s.io': options.configz() }))],
  ]);
  const { flagz, statusz, clock } = options;
  if (flagz) pages.set('/flagz', request => flagzAnswer(request, flagz()));
  if (statusz) {
    const paths = [...pages.keys()].filter(path => path.lastIndexOf('/') === 0).sort();
    const times = () => ({ startMs: PROCESS_START_MS, nowMs: clock.now() });
    const status = () => ({ ...statusz, paths, ...times() });
    pages.set('/statusz', request => statuszAnswer(request, status()));
  }
  return request => {
    const page = pages.get(request.path);
    if (page) return page(request);
    return options.profiling ? debugAnswer(request, options) : NOT_FOUND;
  };
}

function debugAnswer(request: HttpRequest, { setVerbosity }: MetricsServerOptions): HttpAnswer | Promise<HttpAnswer> {
  if (request.path === '/debug/pprof' || request.path.startsWith('/debug/pprof/')) return pprofAnswer(request);
  if (request.path === '/debug/flags' || request.path.startsWith('/debug/flags/')) {
    return debugFlagsAnswer(request, setVerbosity);
  }
  return NOT_FOUND;
}

async function slisAnswer(
  slis: HealthCheckMetrics,
  metrics: SharedRendering,
  request: HttpRequest,
): Promise<HttpAnswer> {
  if (request.method !== 'DELETE') return metricsAnswer(metrics, request);
  slis.reset();
  return plainAnswer('metrics reset\n');
}

function plainAnswer(body: string): HttpAnswer {
  return { status: 200, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body };
}

async function metricsAnswer(
  metrics: SharedRendering,
  { headers: { accept, 'accept-encoding': accepted }, query, disconnected }: HttpRequest,
): Promise<HttpAnswer> {
  const text = await metrics.get(disconnected);
  const headers = {
    'Content-Type': `text/plain; version=0.0.4; charset=utf-8; escaping=${escapingFor(accept ?? '')}`,
    'Process-Start-Time-Unix': String(Math.floor(PROCESS_START_MS / 1000)),
  };
  const names = query.getAll('name[]');
  if (names.length > 0) return { status: 200, headers, body: familiesNamed(names, text.plain.toString()) };
  if (!acceptsGzip(accepted)) return { status: 200, headers, body: text.plain };
  return { status: 200, headers: { ...headers, 'Content-Encoding': 'gzip' }, body: await text.zipped() };
}

/** The part of a text of metrics that is about these metrics. */
function familiesNamed(names: readonly string[], text: string): string {
  const wanted = new Set(names);
  const families = text.split(/^(?=# HELP )/m);
  return families.filter(family => wanted.has(family.split(' ', 3)[2] ?? '')).join('');
}

/** The escaping that the caller prefers. No metric has a name that needs escaping, so only the header differs. */
function escapingFor(accept: string): string {
  let escaping = 'underscores';
  for (const { type, subtype, parameters } of parseAccept(accept)) {
    const preferred = parameters.get('escaping');
    if (preferred !== undefined && ESCAPINGS.has(preferred)) escaping = preferred;
    if (type === 'text' && subtype === 'plain' && TEXT_VERSIONS.has(parameters.get('version'))) break;
  }
  return escaping;
}

function acceptsGzip(accepted: string | string[] | undefined): boolean {
  const codings = String(accepted ?? '')
    .split(',')
    .map(coding => coding.trim().toLowerCase());
  return codings.some(coding => coding === 'gzip' || (coding.startsWith('gzip;') && !/;\s*q=0(\.0*)?$/.test(coding)));
}
