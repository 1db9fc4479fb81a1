import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../src/api/index.ts';
import { manifestKey, parseManifests } from '../../src/source/parse-manifests.ts';
import { type Mode, networkOf } from './modes.ts';

const CASES = 'test/cases';
/** This case is about the size of a cluster. It has no recorded traffic. */
const WITHOUT_TRAFFIC = 'large-cluster';
const DELETE_ANNOTATION = 'case/delete';

/** One situation that the real kube-proxy was recorded in: objects, changes of the objects, and its configuration. */
export interface RecordedCase {
  readonly folder: string;
  readonly name: string;
  /** The content of `config.yaml`, which has only the fields that differ from the usual configuration. */
  readonly configuration: Configuration;
  /** The first step has the objects that exist at the start. */
  readonly steps: readonly Step[];
}

export interface Step {
  readonly set: readonly KubeObject[];
  readonly removed: readonly KubeObject[];
}

/** The fields of a KubeProxyConfiguration that cases use, and the modes that a case is for. */
export interface Configuration {
  readonly modes?: readonly Mode[];
  readonly detectLocalMode?: string;
  readonly detectLocal?: { readonly bridgeInterface?: string; readonly interfaceNamePrefix?: string };
  readonly clusterCIDR?: string;
  readonly nodePortAddresses?: readonly string[];
  readonly iptables?: { readonly masqueradeAll?: boolean; readonly localhostNodePorts?: boolean };
  readonly nftables?: { readonly masqueradeAll?: boolean };
  readonly ipvs?: { readonly scheduler?: string; readonly strictARP?: boolean };
}

/** For tests that take long. Together these cases have every kind of frontend, policy, protocol and family. */
export const VARIED_CASES: readonly string[] = [
  'clusterip-many-ports-protocols',
  'dual-stack',
  'external-ips',
  'internal-policy-local',
  'loadbalancer-local',
  'loadbalancer-source-ranges',
  'no-endpoints',
  'nodeport-local',
  'seq-endpoints-roll',
  'session-affinity',
];

/** The folders of all cases whose traffic was recorded in the mode. */
export function caseFolders(mode: Mode): readonly string[] {
  return allCaseFolders(mode).filter(folder => basename(folder) !== WITHOUT_TRAFFIC);
}

/** The folders of all cases that are for the mode. */
export function allCaseFolders(mode: Mode): readonly string[] {
  return readdirSync(CASES, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(({ name }) => join(CASES, name))
    .filter(folder => readConfiguration(folder).modes?.includes(networkOf(mode)) ?? true)
    .sort();
}

export async function readCase(folder: string): Promise<RecordedCase> {
  const changes = readdirSync(folder)
    .filter(name => /^step-\d+\.yaml$/.test(name))
    .sort();
  const steps = await Promise.all(['objects.yaml', ...changes].map(name => readStep(join(folder, name))));
  return { folder, name: basename(folder), configuration: readConfiguration(folder), steps };
}

/**
 * The recorded answers to all questions. A mode in front of another one has only the lines that differ from those of the
 * other.
 */
export function readTraffic(folder: string, mode: Mode): string {
  const network = networkOf(mode);
  const recorded = readLines(folder, network);
  if (mode === network) return recorded.join('\n');
  const own = new Map(readLines(folder, mode).map(line => [questionOf(line), line]));
  return recorded.map(line => own.get(questionOf(line)) ?? line).join('\n');
}

/** The recorded lines of a mode. Empty without a file. */
export function readLines(folder: string, mode: Mode): readonly string[] {
  const path = join(folder, 'traffic', `${mode}.txt`);
  return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
}

/** The part of a recorded line before the answer. */
export function questionOf(line: string): string {
  return line.split(' => ', 1)[0] ?? '';
}

function readConfiguration(folder: string): Configuration {
  const path = join(folder, 'config.yaml');
  return existsSync(path) ? parse(readFileSync(path, 'utf8')) : {};
}

async function readStep(path: string): Promise<Step> {
  const text = readFileSync(path, 'utf8');
  const { manifests, problems } = await parseManifests(text, path);
  if (problems.length > 0) throw new Error(`${path}: ${JSON.stringify(problems)}`);
  const gone = removedKeys(text);
  const of = (removed: boolean) => [...manifests.values()].filter(({ key }) => gone.has(key) === removed);
  return { set: of(false).map(({ object }) => object), removed: of(true).map(({ object }) => object) };
}

/** Reads the annotation from the text, because decoded objects keep only annotations that a proxy reads. */
function removedKeys(text: string): ReadonlySet<string> {
  const documents = parseAllDocuments(text).map((document): Raw => document.toJS());
  const removed = documents.filter(({ metadata }) => DELETE_ANNOTATION in (metadata.annotations ?? {}));
  return new Set(removed.map(({ kind, metadata }) => manifestKey({ kind, namespace: 'default', ...metadata })));
}

interface Raw {
  readonly kind: KubeObject['kind'];
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly annotations?: object };
}
