import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { base64, KubeconfigFolder } from '../../../test/support/kubeconfig.ts';
import { ApiError } from '../api-error.ts';
import { readKubeconfig } from './kubeconfig.ts';

const SERVER = 'https://10.0.0.1:6443';

/** The configuration that a kubeconfig of this text gives. */
function readText(text: string, master = '') {
  const folder = new KubeconfigFolder();
  try {
    return readKubeconfig(folder.write('config', text), master);
  } finally {
    folder.close();
  }
}

function read(cluster: object, user: object = {}, master = '') {
  return readText(
    JSON.stringify({
      clusters: [{ name: 'test', cluster }],
      users: [{ name: 'me', user }],
      contexts: [{ name: 'here', context: { cluster: 'test', user: 'me' } }],
      'current-context': 'here',
    }),
    master,
  );
}

/** The message of the error, without the name of the file. */
function problem(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === 'configuration', String(error));
    return error.message.replace(/kubeconfig \S+config: /, '');
  }
  return assert.fail('nothing was thrown');
}

test('CLIENT-1 a kubeconfig in YAML gives the cluster and the user of the current context', () => {
  const config = readText(`
apiVersion: v1
kind: Config
current-context: two
contexts:
- {name: one, context: {cluster: a, user: a}}
- {name: two, context: {cluster: b, user: b, namespace: x}}
clusters:
- {name: a, cluster: {server: https://a.test}}
- name: b
  cluster:
    server: https://b.test:6443/prefix/
    certificate-authority-data: ${base64('CA')}
    tls-server-name: kubernetes
    proxy-url: http://proxy.test:3128
    disable-compression: true
users:
- {name: b, user: {token: secret}}
`);
  assert.equal(config?.server.href, 'https://b.test:6443/prefix/');
  assert.deepEqual(config?.tls, {
    ca: { kind: 'data', pem: 'CA', field: 'certificate-authority-data' },
    insecure: false,
    serverName: 'kubernetes',
  });
  assert.equal(config?.user.token, 'secret');
  assert.equal(config?.proxyUrl, 'http://proxy.test:3128');
  assert.equal(config?.disableCompression, true);
});

test('CLIENT-1 paths are relative to the kubeconfig', () => {
  const folder = new KubeconfigFolder();
  try {
    const user = {
      'client-certificate': 'pki/me.crt',
      'client-key': '/etc/me.key',
      tokenFile: '../token',
      exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'bin/login', interactiveMode: 'Never' },
    };
    const file = folder.kubeconfig({ server: SERVER, 'certificate-authority': 'ca.crt' }, user);
    const config = readKubeconfig(file, '');
    assert.deepEqual(config?.tls.ca, {
      kind: 'file',
      path: join(folder.path, 'ca.crt'),
      field: 'certificate-authority',
    });
    const { certificate, key } = config?.user.certificate ?? {};
    assert.deepEqual(certificate, { kind: 'file', path: join(folder.path, 'pki/me.crt'), field: 'client-certificate' });
    assert.deepEqual(key, { kind: 'file', path: '/etc/me.key', field: 'client-key' });
    assert.equal(config?.user.tokenFile, join(folder.path, '../token'));
    assert.equal(config?.user.exec?.command, join(folder.path, 'bin/login'));
  } finally {
    folder.close();
  }
});

test('CLIENT-1 the error of a missing file has the words of Go', () => {
  assert.throws(() => readKubeconfig('/nonexistent', ''), {
    code: 'configuration',
    message: 'stat /nonexistent: no such file or directory',
  });
  assert.throws(() => readKubeconfig('/', ''), { message: 'error loading config file "/": open /: is a directory' });
});

test('CLIENT-1 a kubeconfig that names no server gives no configuration', () => {
  assert.equal(readText(''), undefined);
  assert.equal(readText('{}'), undefined);
  assert.equal(readText('apiVersion: v1\nkind: Config\n'), undefined);
  assert.equal(readText('contexts: [{name: a, context: {}}]\ncurrent-context: a'), undefined);
});

test('CLIENT-2 --master replaces the server of the kubeconfig and its tls-server-name', () => {
  const cluster = { server: SERVER, 'tls-server-name': 'x', 'certificate-authority-data': base64('CA') };
  const config = read(cluster, { token: 'secret' }, 'https://other.test');
  assert.equal(config?.server.href, 'https://other.test/');
  assert.equal(config?.tls.serverName, undefined);
  assert.equal(config?.tls.ca?.kind, 'data');
  assert.equal(config?.user.token, 'secret');
  assert.equal(readText('', 'other.test:8080')?.server.href, 'http://other.test:8080/');
});

test('CLIENT-2 a server without TLS gets no credentials', () => {
  const config = read({ server: 'http://10.0.0.1:8080' }, { token: 'secret' });
  assert.deepEqual(config?.user, {});
  assert.equal(read({ server: '10.0.0.1:8080' })?.server.protocol, 'http:');
});

test('CLIENT-1 the error of an unusable field names the field', () => {
  const cases: [string, () => unknown][] = [
    ['clusters[0].cluster.server: is missing: write the address of the API server', () => read({ 'proxy-url': '' })],
    [
      'clusters[0].cluster.server: host must be a URL or a host:port pair: "ftp://x"',
      () => read({ server: 'ftp://x' }),
    ],
    [
      'clusters[0].cluster.certificate-authority-data: must be base64',
      () => read({ server: SERVER, 'certificate-authority-data': '%' }),
    ],
    [
      'clusters[0].cluster.insecure-skip-tls-verify: must be true or false',
      () => read({ server: SERVER, 'insecure-skip-tls-verify': 'yes' }),
    ],
    [
      'clusters[0].cluster.insecure-skip-tls-verify: cannot be true when there is a certificate-authority too',
      () => read({ server: SERVER, 'insecure-skip-tls-verify': true, 'certificate-authority': 'x' }),
    ],
    [
      'clusters[0].cluster.certificate-authority: and certificate-authority-data are both set: remove one',
      () => read({ server: SERVER, 'certificate-authority': 'x', 'certificate-authority-data': 'QQ==' }),
    ],
    [
      'clusters[0].cluster.proxy-url: SOCKS proxies are not supported: use an http or https proxy',
      () => read({ server: SERVER, 'proxy-url': 'socks5://x' }),
    ],
    ['users[0].user.token: must be a string: write it in quotes', () => read({ server: SERVER }, { token: 5 })],
    [
      'users[0].user: has a token and a username, only one is allowed: remove one',
      () => read({ server: SERVER }, { token: 'x', username: 'y' }),
    ],
    [
      'users[0].user: has a client-certificate but no client-key or client-key-data',
      () => read({ server: SERVER }, { 'client-certificate-data': 'QQ==' }),
    ],
    [
      'users[0].user: has as-uid, as-groups or as-user-extra but no as: name the user to act as',
      () => read({ server: SERVER }, { 'as-groups': ['x'] }),
    ],
    [
      'users[0].user.as-groups[1]: must be a string: write it in quotes',
      () => read({ server: SERVER }, { as: 'a', 'as-groups': ['x', 1] }),
    ],
    [
      'users[0].user.auth-provider: is not supported: use exec, a token or a certificate',
      () => read({ server: SERVER }, { 'auth-provider': { name: 'gcp' } }),
    ],
    [
      'current-context: context was not found for specified context: nope (contexts has a, b)',
      () => readText('current-context: nope\ncontexts: [{name: a}, {name: b}]'),
    ],
    [
      'contexts[0].context.cluster: there is no cluster c (clusters is empty)',
      () => readText('current-context: a\ncontexts: [{name: a, context: {cluster: c}}]'),
    ],
    [
      'contexts[0].context.user: there is no user u (users has v)',
      () =>
        readText(
          `current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: "${SERVER}"}}]\nusers: [{name: v}]`,
        ),
    ],
    [
      'clusters[1]: two entries have the name "c": remove one',
      () =>
        readText('current-context: a\ncontexts: [{name: a, context: {cluster: c}}]\nclusters: [{name: c}, {name: c}]'),
    ],
    [
      'clusters: must be a list',
      () => readText('current-context: a\ncontexts: [{name: a, context: {cluster: c}}]\nclusters: {}'),
    ],
    ['must be an object', () => readText('[]')],
    ['apiVersion: must be v1, not v2', () => readText('apiVersion: v2')],
    ['kind: must be Config, not Pod', () => readText('kind: Pod')],
  ];
  for (const [expected, act] of cases) assert.equal(problem(act), expected);
});

test('CLIENT-1 the error of a file that is not YAML has the words of Go and the line', () => {
  const cases = [
    ['current-context: [a\nb: c', "yaml: line 1: did not find expected ',' or ']'"],
    ['a: b: c', 'yaml: mapping values are not allowed in this context'],
    ['a: \x01', 'yaml: control characters are not allowed'],
  ] as const;
  for (const [text, expected] of cases) {
    const found = problem(() => readText(text));
    assert.match(found, /^error loading config file "\S+": /);
    assert.equal(found.replace(/^.*": /, ''), expected);
  }
  assert.equal(
    problem(() => readText('- a')),
    'must be an object',
  );
});

test('CLIENT-1 a kubeconfig that is nested without end is refused with its place', () => {
  const limit = 'is nested deeper than 256 levels: remove the levels that the file does not need';
  const aliases = Array.from({ length: 5000 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}]`);
  const cases = [
    ['['.repeat(100_000), `yaml: line 1 column 257: ${limit}`],
    [`\n${'{"a":'.repeat(100_000)}`, `yaml: line 2 column 1281: ${limit}`],
    [`${'- '.repeat(100_000)}a`, `yaml: line 1 column 513: ${limit}`],
    [['a0: &a0 [1]', ...aliases].join('\n'), `yaml: line 1 column 9: ${limit}`],
  ] as const;
  for (const [text, expected] of cases) assert.equal(problem(() => readText(text)).replace(/^.*": /, ''), expected);
});

test('CLIENT-1 YAML means the same as in Go: the last of repeated keys counts, and yes is true', () => {
  const config = readText(`
clusters: [{name: t, cluster: {server: https://a.test, insecure-skip-tls-verify: yes}}]
contexts: [{name: c, context: {cluster: t}}]
current-context: nobody
current-context: c
...
behind: [the end
`);
  assert.equal(config?.server.href, 'https://a.test/');
  assert.equal(config?.tls.insecure, true);
  const notAString = 'current-context: must be a string: write it in quotes';
  assert.equal(
    problem(() => readText('current-context: no')),
    notAString,
  );
});

test('CLIENT-1 braces may contain YAML or JSON, with or without tabs', () => {
  for (const text of [
    '{clusters: [{name: t, cluster: {server: "https://a.test"}}], contexts: [{name: c, context: {cluster: t}}], current-context: c}',
    '{\n\t"clusters":[{"name":"t","cluster":{"server":"https://a.test"}}],\n\t"contexts":[{"name":"c","context":{"cluster":"t"}}],\n\t"current-context":"c"}',
  ]) {
    assert.equal(readText(text)?.server.href, 'https://a.test/');
  }
});

test('CLIENT-2 with --master the cluster of the context need not exist, and the user counts', () => {
  const text = `
contexts: [{name: c, context: {cluster: nowhere, user: me}}]
users: [{name: me, user: {token: secret}}]
current-context: c
`;
  assert.match(
    problem(() => readText(text)),
    /there is no cluster nowhere/,
  );
  const config = readText(text, 'https://other.test');
  assert.equal(config?.server.href, 'https://other.test/');
  assert.equal(config?.user.token, 'secret');
});

test('CLIENT-5 the error of a token with control characters names the field and does not show the token', () => {
  const cases = [
    ['two\nlines', 'contains a line break, which an HTTP header cannot carry: write the token on one line'],
    ['end\n', 'contains a line break, which an HTTP header cannot carry: write the token on one line'],
    ['a\x00b', 'contains a control character, which an HTTP header cannot carry: write the token as plain text'],
  ] as const;
  for (const [token, expected] of cases) {
    assert.equal(
      problem(() => read({ server: SERVER }, { token })),
      `users[0].user.token: ${expected}`,
    );
  }
});

test('CLIENT-6 a credential plugin has defaults', () => {
  const exec = { apiVersion: 'client.authentication.k8s.io/v1beta1', command: 'login' };
  assert.deepEqual(read({ server: SERVER }, { exec })?.user.exec, {
    ...exec,
    args: [],
    env: {},
    interactiveMode: 'IfAvailable',
    installHint: '',
    cluster: undefined,
  });
});

test('CLIENT-6 a credential plugin learns about the cluster if provideClusterInfo is true', () => {
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: 'login',
    args: ['a', 'b'],
    env: [{ name: 'X', value: 'y' }],
    interactiveMode: 'Never',
    provideClusterInfo: true,
  };
  const cluster = {
    server: SERVER,
    'certificate-authority-data': base64('CA'),
    'tls-server-name': 'kubernetes',
    extensions: [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'me' } }],
  };
  const plugin = read(cluster, { exec })?.user.exec;
  assert.deepEqual(plugin?.args, ['a', 'b']);
  assert.deepEqual(plugin?.env, { X: 'y' });
  assert.deepEqual(plugin?.cluster, {
    server: SERVER,
    'tls-server-name': 'kubernetes',
    'certificate-authority-data': base64('CA'),
    config: { audience: 'me' },
  });
});

test('CLIENT-6 the error of an unusable credential plugin names the field', () => {
  const v1 = { apiVersion: 'client.authentication.k8s.io/v1', command: 'x', interactiveMode: 'Never' };
  const withExec = (exec: object) => problem(() => read({ server: SERVER }, { exec }));
  assert.match(
    withExec({ ...v1, apiVersion: 'v1alpha1' }),
    /^users\[0\]\.user\.exec\.apiVersion: must be .*, not "v1alpha1"$/,
  );
  assert.equal(withExec({ ...v1, command: '' }), 'users[0].user.exec.command: is missing: name the program');
  assert.equal(withExec({ ...v1, interactiveMode: '' }), 'users[0].user.exec.interactiveMode: is missing: write Never');
  assert.match(
    withExec({ ...v1, interactiveMode: 'No' }),
    /interactiveMode: must be Never, IfAvailable or Always, not No$/,
  );
  assert.equal(withExec({ ...v1, env: [{ value: 'x' }] }), 'users[0].user.exec.env[0].name: is missing');
});

test('CLIENT-1 any kubeconfig gives a configuration or an error with the code configuration', () => {
  const folder = new KubeconfigFolder();
  try {
    fc.assert(
      fc.property(
        fc.object({ key: fc.constantFrom('clusters', 'users', 'contexts', 'name', 'server', '0') }),
        value => {
          const file = folder.write('config', JSON.stringify({ 'current-context': 'a', ...value }));
          try {
            readKubeconfig(file, '');
          } catch (error) {
            assert.ok(error instanceof ApiError && error.code === 'configuration', String(error));
          }
        },
      ),
    );
  } finally {
    folder.close();
  }
});
