import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { NetworkNamespace } from '../src/kernel/netns.ts';
import type { Ip } from '../src/net/index.ts';
import { HttpClient } from './control-plane/http-client.ts';
import { Program } from './control-plane/program.ts';
import { certificates } from './support/certificates.ts';
import { EchoingApiServer } from './support/echoing-api-server.ts';
import { SYNCED } from './support/kube-proxy.ts';
import { base64, KubeconfigFolder } from './support/kubeconfig.ts';
import { createNodeNamespace } from './support/namespaces.ts';

const HEALTH = { port: 10256, paths: ['/healthz', '/livez', '/readyz', '/readyz?verbose', '/'] };
const METRICS = {
  port: 10249,
  paths: [
    ...['/metrics', '/metrics/slis', '/healthz?verbose', '/proxyMode', '/configz', '/flagz', '/statusz', '/'],
    ...['/debug/pprof/', '/debug/pprof/heap?seconds=0.2', '/debug/pprof/profile?seconds=0.2', '/debug/flags/v'],
  ],
};
const FLAGS = [
  ...['--hostname-override', 'node-a', '--proxy-mode', 'nftables', '--profiling', '-v', '10'],
  ...['--feature-gates', 'ComponentFlagz=true,ComponentStatusz=true', '--conntrack-max-per-core', '0'],
  ...['--conntrack-tcp-timeout-established', '0s', '--conntrack-tcp-timeout-close-wait', '0s'],
];
const REFUSED = 'the API server does not accept the credentials (401';
/** Longer than the texts of servers and programs that messages show. */
const LONG_TOKEN = `eyJ${randomBytes(500).toString('base64url')}.${randomBytes(200).toString('base64url')}`;
const SHORT_TOKEN = `ab${randomBytes(4).toString('hex')}.${randomBytes(8).toString('hex')}`;
const PASSWORD = `pass-${randomBytes(6).toString('hex')}`;
const { client, otherClient } = certificates();

describe('credentials', () => {
  let namespace: NetworkNamespace;
  let folder: KubeconfigFolder;
  let api: EchoingApiServer;
  let program: Program | undefined;

  beforeEach(async () => {
    namespace = createNodeNamespace();
    folder = new KubeconfigFolder();
    api = await EchoingApiServer.start(namespace);
  });

  afterEach(async () => {
    await program?.stop('SIGKILL');
    program = undefined;
    await api.close();
    folder.close();
    namespace.close();
  });

  function start(user: object, cluster: object = {}): Program {
    const ca = { 'certificate-authority-data': base64(certificates().ca.cert) };
    return run(folder.kubeconfig({ server: api.url, ...ca, ...cluster }, user));
  }

  function run(kubeconfig: string): Program {
    program = new Program('the proxy', ['bin/kube-proxy', '--kubeconfig', kubeconfig, ...FLAGS, '--inspect-socket='], {
      namespace,
    });
    return program;
  }

  async function pages(): Promise<[path: string, text: string][]> {
    const found: [string, string][] = [];
    for (const { port, paths } of [HEALTH, METRICS]) {
      const server = new HttpClient({ namespace, ip: '127.0.0.1' as Ip, port });
      for (const path of paths) found.push([path, (await server.request({ method: 'GET', path })).text]);
      server.close();
    }
    assert.match(found.find(([path]) => path.includes('heap'))?.[1] ?? '', /^\{"head":/);
    assert.match(found.find(([path]) => path === '/flagz')?.[1] ?? '', /kubeconfig/);
    return found;
  }

  function assertHidden(secrets: readonly string[], texts: readonly [where: string, text: string][]): void {
    for (const [where, text] of [...texts, ['the log', program?.lines.join('\n') ?? ''] as const]) {
      for (const part of secrets.flatMap(partsOf)) assert.ok(!text.includes(part), `${where} shows ${part}:\n${text}`);
    }
  }

  function plugin(script: string, args: readonly string[] = []): object {
    const command = folder.write('login', `#!/bin/sh\n${script}\n`, 0o755);
    return { exec: { apiVersion: 'client.authentication.k8s.io/v1', command, args, interactiveMode: 'Never' } };
  }

  function printing(status: object): string {
    const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status };
    return `cat <<'END'\n${JSON.stringify(credential)}\nEND`;
  }

  const print = (text: string) => `cat >&2 <<'END'\n${text}\nEND`;

  const pair = { 'client-certificate-data': base64(client.cert), 'client-key-data': base64(client.key) };
  const both = { token: LONG_TOKEN, clientCertificateData: client.cert, clientKeyData: client.key };
  const served: readonly [what: string, user: () => object, secrets: readonly string[]][] = [
    [
      'a long token and a client key of the kubeconfig',
      () => ({ token: LONG_TOKEN, ...pair }),
      [LONG_TOKEN, client.key],
    ],
    ['a short token of a file', () => ({ tokenFile: folder.write('token', `${SHORT_TOKEN}\n`) }), [SHORT_TOKEN]],
    ['a name and a password', () => ({ username: 'me', password: PASSWORD }), [PASSWORD, base64(`me:${PASSWORD}`)]],
    [
      'a plugin that also prints its token and its key to standard error',
      () => plugin(`${print(`${client.key}\ngot ${LONG_TOKEN}`)}\n${printing(both)}`),
      [LONG_TOKEN, client.key],
    ],
    [
      'a plugin that also prints a short token to standard error',
      () => plugin(`${print(`using ${SHORT_TOKEN}`)}\n${printing({ token: SHORT_TOKEN })}`),
      [SHORT_TOKEN],
    ],
  ];
  for (const [what, user, secrets] of served) {
    test(`CLIENT-15 no page, profile, log line or Event shows ${what}, before and after a 401 that repeats it`, async () => {
      const proxy = start(user());
      await proxy.until(REFUSED);
      assertHidden(secrets, await pages());
      api.accept();
      await proxy.until(SYNCED);
      await proxy.until('An Event was not written to the API server');
      assert.ok(api.events.length > 0);
      assertHidden(secrets, [...(await pages()), ['the Events', api.events.join('\n')]]);
    });
  }

  const failing: readonly [how: string, user: () => object, logged: string][] = [
    ['fails', () => plugin(`${print(`cannot use ${LONG_TOKEN}\n${client.key}`)}\nexit 1`), 'failed with exit code 1'],
    ['is killed', () => plugin(`${print(`cannot use ${LONG_TOKEN}`)}\nkill -9 $$`), 'ended by SIGKILL'],
    ['has it as an argument', () => plugin('kill -9 $$', ['--token', SHORT_TOKEN]), 'ended by SIGKILL'],
    ['prints it as JSON', () => plugin(`${print(`{"token": "${SHORT_TOKEN}"}`)}\nexit 1`), 'failed with exit code 1'],
    ['prints no credential', () => plugin(`${print(LONG_TOKEN)}\necho ${LONG_TOKEN}`), 'did not write a JSON object'],
  ];
  for (const [how, user, logged] of failing) {
    test(`CLIENT-15 no page, profile or log line shows the credential of a plugin that ${how}`, async () => {
      await start(user()).until(logged);
      assertHidden([LONG_TOKEN, SHORT_TOKEN, client.key], await pages());
    });
  }

  const unusable: readonly [what: string, user: object, cluster: object][] = [
    ['a key of another certificate', { ...pair, 'client-key-data': base64(otherClient.key) }, {}],
    ['a token with a line break', { token: `${LONG_TOKEN}\n${SHORT_TOKEN}` }, {}],
    ['a token in a list', { token: [LONG_TOKEN] }, {}],
    ['a key that is not base64', { ...pair, 'client-key-data': `${client.key}` }, {}],
    ['a proxy address with a password', {}, { 'proxy-url': `ftp://me:${PASSWORD}@proxy.test` }],
  ];
  for (const [what, user, cluster] of unusable) {
    test(`CLIENT-15 the error about ${what} does not show the credential`, async () => {
      assert.equal((await start(user, cluster).exit).status, 1);
      assertHidden([LONG_TOKEN, SHORT_TOKEN, PASSWORD, client.key, otherClient.key], []);
    });
  }

  test('CLIENT-15 the error about a kubeconfig that is not YAML does not show its token', async () => {
    const kubeconfig = folder.write('broken', `users:\n- name: me\n  user:\n    token: ${LONG_TOKEN}: [\n`);
    assert.equal((await run(kubeconfig).exit).status, 1);
    assertHidden([LONG_TOKEN], []);
  });
});

/** The beginning and the end of a secret, and each line of a key. A part of a secret must not be shown either. */
function partsOf(secret: string): string[] {
  const lines = secret.split('\n').filter(line => line !== '' && !line.startsWith('-----'));
  return lines.flatMap(line => (line.length > 40 ? [line.slice(0, 40), line.slice(-40)] : [line]));
}
