import { readFileSync } from 'node:fs';
import { isRecord } from '../../lib/is-record.ts';
import { parseJson } from '../../lib/parse-json.ts';
import { ApiError } from '../api-error.ts';
import type { ClientConfig, ExecConfig, Pem } from '../client-config.ts';
import { fileErrorText } from '../file-error-text.ts';
import { tokenProblem } from './token.ts';

/** The credential that a plugin printed. A part that it did not give is empty. */
export interface ExecStatus {
  readonly token: string;
  readonly certificate: string;
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly expires: number | undefined;
}

const GROUP = 'client.authentication.k8s.io';

export function isExecApiVersion(apiVersion: string): boolean {
  return apiVersion === `${GROUP}/v1` || apiVersion === `${GROUP}/v1beta1`;
}

/** The description of the cluster that a plugin receives. */
export function execCluster(config: ClientConfig, extension: unknown): Readonly<Record<string, unknown>> {
  const { tls } = config;
  return {
    server: config.server.href.replace(/\/$/, ''),
    ...(tls.serverName !== undefined && { 'tls-server-name': tls.serverName }),
    ...(tls.insecure && { 'insecure-skip-tls-verify': true }),
    ...(tls.ca && { 'certificate-authority-data': Buffer.from(pemText(tls.ca)).toString('base64') }),
    ...(config.proxyUrl !== undefined && { 'proxy-url': config.proxyUrl }),
    ...(config.disableCompression && { 'disable-compression': true }),
    config: extension ?? null,
  };
}

/** The value of the environment variable KUBERNETES_EXEC_INFO, which a plugin reads. */
export function execInfo({ apiVersion, cluster }: ExecConfig): string {
  return JSON.stringify({ kind: 'ExecCredential', apiVersion, spec: { cluster, interactive: false } });
}

/** Reads the output of a plugin. Throws an Error with the reason if the output cannot be used. */
export function parseExecCredential(output: string, apiVersion: string): ExecStatus {
  const credential = parseObject(output);
  if (credential.kind !== 'ExecCredential') throw new Error('exec plugin did not write an ExecCredential');
  if (credential.apiVersion !== apiVersion) {
    const got = String(credential.apiVersion);
    throw new Error(`exec plugin is configured to use API version ${apiVersion}, plugin returned version ${got}`);
  }
  const { status } = credential;
  if (!isRecord(status)) throw new Error("exec plugin didn't return a status field");
  const token = textOf(status, 'token');
  const certificate = textOf(status, 'clientCertificateData');
  const key = textOf(status, 'clientKeyData');
  if (token + certificate + key === '') throw new Error("exec plugin didn't return a token or cert/key pair");
  const problem = tokenProblem(token);
  if (problem !== undefined) throw new Error(`exec plugin returned a status.token that ${problem}`);
  if ((certificate === '') !== (key === '')) throw new Error('exec plugin returned only certificate or key, not both');
  return { token, certificate, key, expires: expiry(textOf(status, 'expirationTimestamp')) };
}

function expiry(timestamp: string): number | undefined {
  if (timestamp === '') return undefined;
  const time = Date.parse(timestamp);
  if (!Number.isNaN(time)) return time;
  throw new Error(`exec plugin returned the expirationTimestamp ${timestamp}, which is not a time`);
}

function parseObject(output: string): Readonly<Record<string, unknown>> {
  try {
    const value = parseJson(output);
    if (isRecord(value)) return value;
  } catch {
    // The error does not show the output, which may contain a secret.
  }
  throw new Error('exec plugin did not write a JSON object to its standard output');
}

function textOf(parent: Readonly<Record<string, unknown>>, name: string): string {
  const value = parent[name] ?? '';
  if (typeof value !== 'string') throw new Error(`exec plugin returned a status.${name} that is not a string`);
  return value;
}

function pemText(pem: Pem): string {
  if (pem.kind === 'data') return pem.pem;
  try {
    return readFileSync(pem.path, 'utf8');
  } catch (error) {
    const text = `failed to load CA bundle for execProvider: ${fileErrorText('open', pem.path, error)}`;
    throw new ApiError('configuration', text, { cause: error });
  }
}
