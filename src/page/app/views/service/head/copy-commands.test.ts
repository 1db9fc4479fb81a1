import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { shellQuote } from '../../../parts/shell-quote.ts';
import { answered, frontend, nodePort, port } from '../fixture.ts';
import { type CopiedQuestion, copyCommands } from './copy-commands.ts';
import { askedFrontend } from './explain-target.ts';

const PORT = port([frontend(answered(['10.244.1.10:8080'])), nodePort(answered(['10.244.1.10:8080']))], []);

function commands(overrides: Partial<CopiedQuestion> = {}): Readonly<Record<string, string>> {
  const list = copyCommands({ namespace: 'shop', name: 'web', command: 'kube-proxy', port: PORT, ...overrides });
  return Object.fromEntries(list.map(({ name, text }) => [name, text]));
}

describe('commands that can be copied', () => {
  test('PAGE-73 kubectl gets the Service and its EndpointSlices', () => {
    assert.equal(
      commands().kubectl,
      'kubectl -n shop get service web -o yaml\n' +
        'kubectl -n shop get endpointslices -l kubernetes.io/service-name=web -o yaml',
    );
  });

  test('PAGE-73 explain asks what is chosen, with the command that reaches the proxy', () => {
    const [cluster, node] = PORT.frontends;
    assert.equal(commands().explain, 'kube-proxy explain shop/web:http');
    assert.equal(
      commands({ from: 'outside', frontend: cluster }).explain,
      'kube-proxy explain --from outside 10.96.0.10:80',
    );
    assert.equal(commands({ from: 'pod', frontend: node }).explain, 'kube-proxy explain --from pod 192.168.0.2:30080');
    const udp = commands({
      port: { ...PORT, name: '', protocol: 'UDP' },
      command: 'kubectl -n kube-system exec p -- kube-proxy',
    });
    assert.equal(udp.explain, 'kubectl -n kube-system exec p -- kube-proxy explain shop/web:80/udp');
    assert.equal(udp.history, 'kubectl -n kube-system exec p -- kube-proxy history shop/web');
  });

  test('PAGE-73 the other family of a Service is asked about by its address', () => {
    const second = port([frontend(answered([]), { address: 'fd00::10' })], [], { family: 'IPv6' });
    const asked = (addresses: readonly string[]) => askedFrontend(second, undefined, addresses)?.askedAt;
    assert.equal(asked(['10.96.0.10', 'fd00::10']), 'fd00::10');
    assert.equal(asked(['fd00::10', '10.96.0.10']), undefined);
  });

  test('PAGE-74 a shell takes a name as one word, whatever is in it', () => {
    const names = ['web', "a'b", '$(id)', '`id`', 'a b;c', '<script>', '"', '\\', '', '*', '~', "'; rm -rf /; '", 'ü'];
    for (const name of names) {
      const printed = execFileSync('bash', ['-c', `printf %s ${shellQuote(name)}`], { encoding: 'utf8' });
      assert.equal(printed, name);
    }
  });

  test('PAGE-74 a quoted name has no control characters, so that pasting it does nothing', () => {
    for (const name of ['a\nid\n', '\u001b[2J', '\u0007', '\u009b', '\u202eabc']) {
      const quoted = shellQuote(name);
      assert.doesNotMatch(quoted, /[\p{Cc}\p{Cf}]/u);
      assert.equal(execFileSync('bash', ['-c', `printf %s ${quoted}`], { encoding: 'utf8' }), name);
    }
  });
});
