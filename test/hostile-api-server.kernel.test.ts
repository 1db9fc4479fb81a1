import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { NetworkNamespace } from '../src/kernel/netns.ts';
import { Program } from './control-plane/program.ts';
import { certificates } from './support/certificates.ts';
import { EchoingApiServer } from './support/echoing-api-server.ts';
import { SYNCED } from './support/kube-proxy.ts';
import { base64, KubeconfigFolder } from './support/kubeconfig.ts';
import { createNodeNamespace } from './support/namespaces.ts';

const FLAGS = ['--hostname-override', 'node-a', '--proxy-mode', 'nftables', '--conntrack-max-per-core', '0'];
const STORM_MS = 5000;
/** Three kinds of objects, the Node and Events: each may ask ten times at once, and then once in a while. */
const MAX_REQUESTS = 150;

describe('a hostile API server', () => {
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

  function start(user: object): Program {
    const ca = { 'certificate-authority-data': base64(certificates().ca.cert) };
    const kubeconfig = folder.kubeconfig({ server: api.url, ...ca }, user);
    program = new Program('the proxy', ['bin/kube-proxy', '--kubeconfig', kubeconfig, ...FLAGS, '--inspect-socket='], {
      namespace,
    });
    return program;
  }

  test('WATCH-21 a server that refuses each request with 429 gets few requests, and the proxy recovers soon after', async () => {
    api.refusal = 429;
    const proxy = start({ token: 'abc' });
    await proxy.waitFor('ask', () => api.requests > 0, 20_000);
    const before = api.requests;
    await delay(STORM_MS);
    assert.ok(api.requests - before < MAX_REQUESTS, `${api.requests - before} requests in ${STORM_MS / 1000} s`);
    api.accept();
    await proxy.until(SYNCED, { timeoutMs: 15_000 });
  });

  test('CLIENT-10 after the token is replaced the watches go on with the new one', async () => {
    const accepted = (token: string) => {
      api.accepts = ({ headers }) => headers.authorization === `Bearer ${token}`;
    };
    accepted('first-token');
    const proxy = start({ tokenFile: folder.write('token', 'first-token') });
    await proxy.until(SYNCED);
    folder.write('token', 'second-token');
    let watches = 0;
    api.accepts = ({ headers, url }) => {
      const isNew = headers.authorization === 'Bearer second-token';
      if (isNew && url?.includes('watch=true')) watches++;
      return isNew;
    };
    api.endWatches();
    await proxy.waitFor('watch all kinds of objects again', () => watches >= 3, 20_000);
    assert.ok(!proxy.lines.some(line => line.includes('does not accept the credentials')), proxy.lines.join('\n'));
  });
});
