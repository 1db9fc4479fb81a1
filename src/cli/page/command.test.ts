import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runMain } from '../../../test/support/run-main.ts';

const FILES = ['--tls-cert-file=c', '--tls-key-file=k', '--token-file=t'];

describe('kube-proxy page', () => {
  test('PAGE-2 PAGE-12 another address than loopback needs TLS and a token, and the error names the flags', async () => {
    const { status, stderr } = await runMain(['page', '--bind-address', '0.0.0.0:0']);
    assert.equal(status, 2);
    assert.match(
      stderr,
      /^Error: --bind-address 0\.0\.0\.0:0 is not a loopback address, so it also needs --tls-cert-file, --tls-key-file and --token-file\n/,
    );
    const two = await runMain(['page', '--bind-address', '[::]:0', ...FILES.slice(1)]);
    assert.match(two.stderr, /also needs --tls-cert-file\n/);
  });

  test('PAGE-12 a page that cannot be served ends the command with the reason', async () => {
    const { status, stderr } = await runMain(['page', '--bind-address', '127.0.0.1:0', ...FILES]);
    assert.equal(status, 2);
    assert.match(stderr, /^Error: ENOENT: no such file or directory, stat 'c'/);
  });

  test('PAGE-11 only known actions can be allowed', async () => {
    const { status, stderr } = await runMain(['page', '--allow', 'probe,write']);
    assert.equal(status, 2);
    assert.match(
      stderr,
      /^Error: invalid argument "probe,write" for "--allow" flag: "write" is not known: use probe or/,
    );
  });

  test('FLEET-1 flags of a fleet and of one node are not mixed', async () => {
    const fleet = await runMain(['page', '--selector', 'app=x']);
    assert.match(fleet.stderr, /^Error: --selector also needs --kubeconfig\n/);
    const node = await runMain(['page', '--kubeconfig', 'x', '--allow', 'probe']);
    assert.match(node.stderr, /^Error: --allow is for the page of one node\n/);
    const missing = await runMain(['page', '--kubeconfig', '/nonexistent/config', '--bind-address', '127.0.0.1:0']);
    assert.equal(missing.status, 2);
    assert.match(missing.stderr, /\/nonexistent\/config/);
  });

  test('PAGE-12 the help says how to see the page from another machine', async () => {
    const { stdout } = await runMain(['page', '--help']);
    assert.match(stdout, /kubectl -n kube-system port-forward POD 10280/);
    assert.match(stdout, /kubectl -n kube-system exec -it POD -- kube-proxy page/);
  });
});
