import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { runMain } from '../../../test/support/run-main.ts';

const OBJECTS = `
apiVersion: v1
kind: Node
metadata: {name: node-a}
status: {addresses: [{type: InternalIP, address: 192.168.0.2}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {clusterIP: 10.96.0.10, selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: default, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints:
- {addresses: [10.244.1.10], nodeName: node-a, zone: zone-a, targetRef: {kind: Pod, namespace: default, name: web-0}}
- {addresses: [10.244.2.10], nodeName: node-b, conditions: {ready: false}}
---
apiVersion: v1
kind: Service
metadata: {name: idle, namespace: shop}
spec: {clusterIP: 10.96.0.20, selector: {app: idle}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: db, namespace: shop}
spec: {clusterIP: None, ports: [{port: 5432}]}
`;

const run = (...args: string[]) => runMain(['explain', ...args]);

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'explain-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function explained(...args: string[]) {
  return await explainedIn(OBJECTS, ...args);
}

async function explainedIn(objects: string, ...args: string[]) {
  return await inFolder(async folder => {
    writeFileSync(join(folder, 'objects.yaml'), objects);
    return await run('--manifests', folder, '--cluster-cidr', '10.244.0.0/16', ...args);
  });
}

describe('kube-proxy explain', () => {
  test('BALANCE-21 explain shows weights, odds, and who asks for the algorithm', async () => {
    const annotations = '{pointsman.dev/balance: weighted, pointsman.dev/weights: "10.244.1.10=3,10.244.3.10=0"}';
    const objects = OBJECTS.replace(
      '{name: web, namespace: default}',
      `{name: web, namespace: default, annotations: ${annotations}}`,
    ).replace(', conditions: {ready: false}}', '}\n- {addresses: [10.244.3.10]}');
    const { stdout } = await explainedIn(objects, 'web');
    assert.match(stdout, /✓ 10\.244\.1\.10:8080 .* ready, weight 3$/m);
    assert.match(stdout, /· 10\.244\.3\.10:8080 +weight 0$/m);
    assert.match(stdout, /one of 2 endpoints of default\/web:http, at random\./);
    assert.match(stdout, /10\.244\.1\.10:8080 +75 %/);
    assert.match(stdout, /An annotation of the Service asks for weighted\./);
    const other = await explainedIn(
      objects.replace('balance: weighted', 'balance: consistent-hash'),
      'web',
      '--proxy-mode',
      'iptables',
    );
    assert.match(
      other.stdout,
      /The Service asks for consistent-hash, which this mode does not have: it chooses at\s+random\./,
    );
  });

  test('EXPLAIN-19 flags that say how to plan are refused if the running proxy is to answer', async () => {
    const { status, stdout, stderr } = await run('--node', 'node-b', 'web');
    assert.deepEqual([status, stdout], [2, '']);
    assert.match(
      stderr,
      /^Error: --node needs --kubeconfig or --manifests: without them the proxy of this node answers/,
    );
  });

  test('EXPLAIN-19 EXPLAIN-20 a healthy Service: numbered steps, the verdict at the end, status 0', async () => {
    const { status, stdout } = await explained('web', '--from', '10.244.1.7');
    assert.equal(
      stdout,
      `default/web:http from 10.244.1.7
manifests, for node node-a, nftables mode

1 ✓ knowledge  The objects come from manifests, planned for node node-a.
2 ✓ service    10.96.0.10:80/TCP is the cluster IP of default/web:http.
3 ✓ caller     The caller 10.244.1.7 is in the cluster CIDR 10.244.0.0/16, so it is a pod.
4 ✓ endpoints  This node uses 1 of the 2 endpoints of default/web:http.
               ✓ 10.244.1.10:8080  web-0  node-a (this node)  zone-a  ready
               · 10.244.2.10:8080         node-b                      not ready
5 ✓ path       A new connection goes to 10.244.1.10:8080.
               10.244.1.10:8080  100 %  sees 10.244.1.7, the caller
               The caller counts as a pod (by source range 10.244.0.0/16): endpoints see 10.244.1.7.
6 ! kernel     The command read no kernel, because it asked no running proxy.

✓ works: By the plan, a connection from a pod at 10.244.1.7 to 10.96.0.10:80/TCP is answered by
  endpoint 10.244.1.10:8080 of default/web.
  Next: if it still fails, ask the proxy of the node, which also reads the kernel.
`,
    );
    assert.equal(status, 0);
  });

  test('EXPLAIN-19 EXPLAIN-20 a broken Service: the reason and the next command, status 1', async () => {
    const { status, stdout } = await explained('-n', 'shop', 'idle');
    assert.equal(status, 1);
    assert.ok(
      stdout.endsWith(`
4 ✗ endpoints  No EndpointSlice belongs to shop/idle: no pod matches its selector, or no controller
               makes slices.
5 ✗ path       A new connection is refused at once: no endpoint of shop/idle can serve.
6 ! kernel     The command read no kernel, because it asked no running proxy.

✗ broken: No EndpointSlice belongs to shop/idle: no pod matches its selector, or no controller makes
  slices.
  Next: compare the selector with the labels of the pods:
    kubectl -n shop describe service idle
`),
      stdout,
    );
  });

  test('EXPLAIN-19 an answer that the proxy does not know has the status 2', async () => {
    const { status, stdout } = await explained('shop/db');
    assert.equal(status, 2);
    assert.match(stdout, /\n\? cannot tell: shop\/db is headless: DNS answers/);
  });

  test('EXPLAIN-19 -o json and -o yaml print the same data', async () => {
    const json = await explained('web', '-o', 'json');
    const yaml = await explained('web', '-o', 'yaml');
    assert.deepEqual([json.status, yaml.status], [0, 0]);
    assert.deepEqual(parse(yaml.stdout), JSON.parse(json.stdout));
    assert.equal(JSON.parse(json.stdout).schema, 'pointsman.explanation/v1');
  });

  test('EXPLAIN-19 a wrong command line has the status 2, and the error says how to ask', async () => {
    const wrong: readonly (readonly [readonly string[], RegExp])[] = [
      [[], /no Service or address to explain: give SERVICE\[:PORT\] or IP:PORT/],
      [['a', 'b'], /takes only one argument/],
      [['10.96.0.10'], /10\.96\.0\.10 has no port: ask for 10\.96\.0\.10:PORT/],
      [['web', '--from', 'a b'], /"a b" is no caller/],
      [['web', '-o', 'xml'], /must be text, json or yaml/],
    ];
    for (const [args, want] of wrong) {
      const { status, stderr } = await run(...args);
      assert.equal(status, 2);
      assert.match(stderr, want);
      assert.match(stderr, /See: kube-proxy help explain\n$/);
    }
  });

  test('EXPLAIN-20 no line is longer than 100 columns, except commands', async () => {
    const outputs = await Promise.all(
      [['web'], ['webb'], ['10.244.1.10:80'], ['-n', 'shop', 'idle']].map(args => explained(...args)),
    );
    for (const line of outputs.flatMap(({ stdout }) => stdout.split('\n'))) {
      assert.ok(line.length <= 100 || line.startsWith('    k'), line);
    }
  });
});

/** Answers one question at a Unix socket, as the proxy does. */
async function withProxy<T>(answer: object, work: (socket: string, asked: string[]) => Promise<T>): Promise<T> {
  return await inFolder(async folder => {
    const asked: string[] = [];
    const socket = join(folder, 'proxy.sock');
    const server = createServer((request, response) => {
      asked.push(decodeURIComponent(request.url ?? ''));
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer));
    });
    await new Promise<void>(resolve => server.listen(socket, resolve));
    try {
      return await work(socket, asked);
    } finally {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    }
  });
}

describe('kube-proxy explain with a running proxy', () => {
  const answer = {
    schema: 'pointsman.explanation/v1',
    question: { to: 'shop/web:http', probe: true },
    origin: { kind: 'proxy', node: 'node-a', mode: 'ipvs' },
    steps: [{ number: 1, topic: 'service', verdict: 'bad', text: 'Bad \u001b[31mred\u0007.', details: ['A detail.'] }],
    verdict: 'broken',
    summary: 'Bad.',
    next: { text: 'run this', command: 'true' },
  };

  test('EXPLAIN-19 the proxy of this node answers, through its socket', async () => {
    await withProxy(answer, async (socket, asked) => {
      const { status, stdout } = await run(
        '--inspect-socket',
        socket,
        '-n',
        'shop',
        '--probe',
        '--from',
        'web-0',
        'web:http',
      );
      assert.deepEqual(asked, ['/v1/explain?to=shop/web:http&from=shop/web-0&probe=true']);
      assert.equal(status, 1);
      assert.match(stdout, /^shop\/web:http\nthe proxy of node node-a, ipvs mode\n/);
    });
  });

  test('EXPLAIN-20 characters that a terminal obeys are escaped', async () => {
    await withProxy(answer, async socket => {
      const { stdout } = await run('--inspect-socket', socket, 'web');
      assert.match(stdout, /Bad \\x1b\[31mred\\a\./);
      const json = await run('--inspect-socket', socket, 'web', '-o', 'json');
      assert.deepEqual(JSON.parse(json.stdout), answer);
    });
  });

  test('EXPLAIN-19 an answer that is no explanation has the status 2', async () => {
    await withProxy({ schema: 'other/v1' }, async socket => {
      const { status, stderr } = await run('--inspect-socket', socket, 'web');
      assert.equal(status, 2);
      assert.match(stderr, /the proxy did not answer with an explanation: it is another version/);
    });
  });

  test('EXPLAIN-19 without a proxy the error says what to do', async () => {
    const { status, stderr } = await run('--inspect-socket', '/nonexistent/proxy.sock', 'web');
    assert.equal(status, 2);
    assert.match(stderr, /there is no socket at \/nonexistent\/proxy\.sock/);
  });
});
