import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { certificates } from '../../../test/support/certificates.ts';
import { KubeconfigFolder } from '../../../test/support/kubeconfig.ts';
import { silentLog } from '../client-log.ts';
import { resolveConfig } from './resolve-config.ts';

const POD = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' };

interface Pod {
  readonly folder: KubeconfigFolder;
  readonly errors: string[];
  resolve(sources: {
    kubeconfig?: string;
    master?: string;
    env?: Record<string, string>;
  }): ReturnType<typeof resolveConfig>;
}

function inPod(act: (pod: Pod) => void): void {
  const folder = new KubeconfigFolder();
  const errors: string[] = [];
  const log = { ...silentLog, error: (_source: string, message: string) => void errors.push(message) };
  const fixed = { kubeconfig: '', master: '', env: {}, serviceAccountFolder: folder.path, log };
  try {
    act({ folder, errors, resolve: sources => resolveConfig({ ...fixed, ...sources }) });
  } finally {
    folder.close();
  }
}

test('CLIENT-3 without kubeconfig and --master the client uses the pod’s environment and files', () => {
  inPod(({ folder, errors, resolve }) => {
    folder.write('token', 'secret\n');
    folder.write('ca.crt', certificates().ca.cert);
    const config = resolve({ env: POD });
    assert.equal(config.server.href, 'https://10.96.0.1/');
    assert.deepEqual(config.tls.ca, { kind: 'file', path: join(folder.path, 'ca.crt'), field: 'ca.crt' });
    assert.deepEqual(config.user, { token: 'secret', tokenFile: join(folder.path, 'token') });
    assert.deepEqual(errors, []);
    const v6 = resolve({ env: { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' } });
    assert.equal(v6.server.href, 'https://[fd00::1]:6443/');
  });
});

test('CLIENT-5 an error about a service account’s token with a line break names the file', () => {
  inPod(({ folder, resolve }) => {
    const path = folder.write('token', 'sec\nret');
    folder.write('ca.crt', certificates().ca.cert);
    assert.throws(() => resolve({ env: POD }), {
      code: 'configuration',
      message: `${path} contains a line break, which an HTTP header cannot carry: write the token on one line`,
    });
  });
});

test('CLIENT-3 a missing variable or token is an error in the words of client-go', () => {
  inPod(({ folder, resolve }) => {
    const names = 'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT';
    const message = `unable to load in-cluster configuration, ${names} must be defined`;
    assert.throws(() => resolve({}), { code: 'configuration', message });
    assert.throws(() => resolve({ env: { ...POD, KUBERNETES_SERVICE_PORT: '' } }), { message });
    assert.throws(() => resolve({ env: POD }), { message: `open ${folder.path}/token: no such file or directory` });
  });
});

test('CLIENT-3 a CA that is missing or not a certificate is only logged', () => {
  inPod(({ folder, errors, resolve }) => {
    folder.write('token', 'secret');
    assert.equal(resolve({ env: POD }).tls.ca, undefined);
    folder.write('ca.crt', 'nonsense');
    assert.equal(resolve({ env: POD }).tls.ca, undefined);
    const expected = `Expected to load root CA config from ${folder.path}/ca.crt, but got err:`;
    assert.deepEqual(errors, [
      `${expected} open ${folder.path}/ca.crt: no such file or directory`,
      `${expected} data does not contain any valid RSA or ECDSA certificates`,
    ]);
  });
});

test('CLIENT-2 --master without a kubeconfig gives a client without credentials', () => {
  inPod(({ folder, resolve }) => {
    folder.write('token', 'secret');
    const config = resolve({ master: 'http://127.0.0.1:8080', env: POD });
    assert.equal(config.server.href, 'http://127.0.0.1:8080/');
    assert.deepEqual(config.user, {});
    assert.throws(() => resolve({ master: 'not a host/x' }), {
      message: /^--master: host must be a URL or a host:port/,
    });
  });
});

test('CLIENT-3 the pod’s configuration replaces an empty kubeconfig; without it the error is client-go’s', () => {
  inPod(({ folder, resolve }) => {
    const kubeconfig = folder.write('kubeconfig', '');
    const text = 'no configuration has been provided, try setting KUBERNETES_MASTER environment variable';
    assert.throws(() => resolve({ kubeconfig, env: POD }), { message: `invalid configuration: ${text}` });
    folder.write('token', 'secret');
    assert.throws(() => resolve({ kubeconfig }), { message: `invalid configuration: ${text}` });
    assert.equal(resolve({ kubeconfig, env: POD }).server.host, '10.96.0.1');
  });
});
