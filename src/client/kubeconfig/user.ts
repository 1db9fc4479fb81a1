import type { ClientConfig, ExecConfig, Impersonation, InteractiveMode, UserConfig } from '../client-config.ts';
import { execCluster, isExecApiVersion } from '../credentials/exec-credential.ts';
import { tokenProblem } from '../credentials/token.ts';
import { besideFile, bool, child, type Field, fail, list, named, names, object, pem, text, texts } from './field.ts';

/** What an exec plugin may be told of the cluster. */
export interface ClusterInfo {
  readonly config: ClientConfig;
  readonly extension: unknown;
}

/** Whom the context says that we are. */
export function userConfig(root: Field, context: Field, cluster: ClusterInfo): UserConfig {
  const name = text(context, 'user');
  if (name === '') return {};
  const entry = named(root, 'users', name);
  if (!entry) return fail(child(context, 'user'), `there is no user ${name} (see users: ${names(root, 'users')})`);
  return readUser(object(child(entry, 'user')), cluster);
}

function readUser(user: Field, cluster: ClusterInfo): UserConfig {
  const authProvider = child(user, 'auth-provider');
  if (authProvider.value !== undefined) fail(authProvider, 'is not supported: use exec, a token or a certificate');
  const token = text(user, 'token') || undefined;
  const problem = token && tokenProblem(token);
  if (problem !== undefined) fail(child(user, 'token'), problem);
  const tokenFile = text(user, 'tokenFile');
  const username = text(user, 'username');
  const password = text(user, 'password');
  const basic = username === '' && password === '' ? undefined : { username, password };
  if (basic && (token || tokenFile)) fail(user, 'has a token and a username, only one is allowed: take one away');
  return {
    token,
    tokenFile: tokenFile === '' ? undefined : besideFile(user.file, tokenFile),
    basic,
    certificate: certificate(user),
    exec: exec(child(user, 'exec'), cluster),
    impersonate: impersonation(user),
  };
}

function certificate(user: Field): UserConfig['certificate'] {
  const certificate = pem(user, 'client-certificate');
  if (!certificate) return undefined;
  const key = pem(user, 'client-key');
  return key ? { certificate, key } : fail(user, 'has a client-certificate but no client-key or client-key-data');
}

function impersonation(user: Field): Impersonation | undefined {
  const name = text(user, 'as');
  const uid = text(user, 'as-uid') || undefined;
  const groups = texts(user, 'as-groups');
  const extraField = object(child(user, 'as-user-extra'));
  const extra = new Map(Object.keys(extraField.value ?? {}).map(key => [key, texts(extraField, key)]));
  if (name !== '') return { user: name, uid, groups, extra };
  if (uid !== undefined || groups.length > 0 || extra.size > 0) {
    fail(user, 'has as-uid, as-groups or as-user-extra but no as: say which user to act as');
  }
  return undefined;
}

function exec(field: Field, { config, extension }: ClusterInfo): ExecConfig | undefined {
  if (field.value === undefined) return undefined;
  object(field);
  const apiVersion = text(field, 'apiVersion');
  if (!isExecApiVersion(apiVersion)) {
    const known = 'client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1';
    fail(child(field, 'apiVersion'), `must be ${known}, not ${JSON.stringify(apiVersion)}`);
  }
  const command = text(field, 'command');
  if (command === '') fail(child(field, 'command'), 'is missing: name the program');
  return {
    apiVersion,
    // One without a slash is looked for in PATH.
    command: command.includes('/') ? besideFile(field.file, command) : command,
    args: texts(field, 'args'),
    env: environment(field),
    interactiveMode: interactiveMode(field, apiVersion),
    installHint: text(field, 'installHint'),
    cluster: bool(field, 'provideClusterInfo') ? execCluster(config, extension) : undefined,
  };
}

function environment(exec: Field): Record<string, string> {
  const entries = list(exec, 'env').map(entry => {
    const name = text(object(entry), 'name');
    if (name === '') fail(child(entry, 'name'), 'is missing');
    return [name, text(entry, 'value')] as const;
  });
  return Object.fromEntries(entries);
}

function interactiveMode(exec: Field, apiVersion: string): InteractiveMode {
  const mode = text(exec, 'interactiveMode');
  switch (mode) {
    case 'Never':
    case 'IfAvailable':
    case 'Always':
      return mode;
    case '':
      if (apiVersion.endsWith('/v1beta1')) return 'IfAvailable';
      return fail(child(exec, 'interactiveMode'), 'is missing: write Never');
    default:
      return fail(child(exec, 'interactiveMode'), `must be Never, IfAvailable or Always, not ${mode}`);
  }
}
