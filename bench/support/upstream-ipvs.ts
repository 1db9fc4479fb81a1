import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { EndpointSlice, Service } from '../../src/api/index.ts';
import { type ApiObject, ApiStub } from './api-stub.ts';
import { makeService, makeSlices, POD_RANGE, type Size } from './cluster.ts';

const API_PORT = 18_080;
const METRICS = '127.0.0.1:10249';
const NODE = 'node-1';
const DURATION = 'kubeproxy_sync_proxy_rules_duration_seconds';
const CHANGES = 3;
/** The program is settled after this time without a sync. */
const QUIET_MS = 3000;

/** How long the syncs of IPv4 took by the program's own metrics, in milliseconds. */
export interface UpstreamTimes {
  readonly cold: number;
  readonly changes: readonly number[];
}

/** Runs another kube-proxy in ipvs mode. It uses the machine's own network, so run this only in a guest. */
export async function measureUpstream(program: string, { services, endpoints }: Size): Promise<UpstreamTimes> {
  const numbers = Array.from({ length: services }, (_, i) => i);
  const slices = numbers.flatMap(i => makeSlices(i, endpoints).map(apiSlice));
  const api = await ApiStub.start([node(), ...numbers.map(i => apiService(makeService(i))), ...slices], API_PORT);
  const folder = mkdtempSync(join(tmpdir(), 'upstream-'));
  const proxy = start(program, folder);
  try {
    const cold = await syncsAfter({ count: 0, seconds: 0 }, proxy);
    let last = await settled(proxy);
    const changes: number[] = [];
    for (const slice of slices.slice(0, CHANGES)) {
      api.modify(withoutFirst(slice));
      const next = await syncsAfter(last, proxy);
      changes.push((1000 * (next.seconds - last.seconds)) / (next.count - last.count));
      last = await settled(proxy);
    }
    return { cold: (1000 * cold.seconds) / cold.count, changes };
  } catch (error) {
    throw new Error(`${error}\n${readFileSync(join(folder, 'log'), 'utf8').slice(-2000)}`);
  } finally {
    proxy.kill('SIGKILL');
    api.close();
    rmSync(folder, { recursive: true });
  }
}

function start(program: string, folder: string): ChildProcess {
  const kubeconfig = join(folder, 'kubeconfig');
  const config = join(folder, 'config');
  const cluster = { server: `http://127.0.0.1:${API_PORT}` };
  const names = { clusters: [{ name: 'a', cluster }], users: [{ name: 'a', user: {} }] };
  const context = { contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }], 'current-context': 'a' };
  writeFileSync(kubeconfig, JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...names, ...context }));
  const json = { contentType: 'application/json', acceptContentTypes: 'application/json' };
  const configuration = {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'ipvs',
    clusterCIDR: POD_RANGE,
    hostnameOverride: NODE,
    clientConnection: { kubeconfig, ...json },
    metricsBindAddress: METRICS,
    conntrack: { maxPerCore: 0, min: 0 },
    // With these periods, every sync has a change as its cause.
    ipvs: { syncPeriod: '1h', minSyncPeriod: '0s' },
  };
  writeFileSync(config, JSON.stringify(configuration));
  const log = openSync(join(folder, 'log'), 'w');
  return spawn(program, ['--config', config], { stdio: ['ignore', log, log] });
}

/** The number of syncs, and how long they took together. */
interface Syncs {
  readonly count: number;
  readonly seconds: number;
}

async function syncsAfter({ count }: Syncs, proxy: ChildProcess): Promise<Syncs> {
  for (;;) {
    const syncs = await readSyncs();
    if (syncs.count > count) return syncs;
    if (proxy.exitCode !== null) throw new Error(`the program ended with status ${proxy.exitCode}`);
    await delay(100);
  }
}

async function settled(proxy: ChildProcess): Promise<Syncs> {
  for (;;) {
    const before = await syncsAfter({ count: 0, seconds: 0 }, proxy);
    await delay(QUIET_MS);
    const after = await readSyncs();
    if (after.count === before.count) return after;
  }
}

async function readSyncs(): Promise<Syncs> {
  const text = await fetch(`http://${METRICS}/metrics`).then(
    answer => answer.text(),
    () => '',
  );
  const value = (what: string) =>
    Number(new RegExp(`^${DURATION}_${what}\\{ip_family="IPv4"\\} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
  return { count: value('count'), seconds: value('sum') };
}

function node(): ApiObject {
  const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }];
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: NODE, uid: NODE }, spec: {}, status: { addresses } };
}

function apiService(service: Service): ApiObject {
  const { externalTrafficPolicy: _, ...spec } = service.spec;
  return { ...service, apiVersion: 'v1', metadata: { ...service.metadata }, spec };
}

function apiSlice(slice: EndpointSlice): ApiObject {
  const endpoints = slice.endpoints.map(({ addresses, nodeName, ready, serving, terminating }) => ({
    addresses,
    nodeName,
    conditions: { ready, serving, terminating },
  }));
  return { ...slice, apiVersion: 'discovery.k8s.io/v1', metadata: { ...slice.metadata }, endpoints };
}

function withoutFirst(slice: ApiObject): ApiObject {
  return { ...slice, endpoints: Array.isArray(slice.endpoints) ? slice.endpoints.slice(1) : [] };
}
