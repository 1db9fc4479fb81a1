import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { certificates } from '../../../test/support/certificates.ts';
import { FakePrograms } from '../../../test/support/fake-programs.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import type { ExecConfig } from '../client-config.ts';
import { silentLog } from '../client-log.ts';
import { ExecPlugin } from './exec-plugin.ts';

const V1 = 'client.authentication.k8s.io/v1';

interface Case {
  readonly plugin: ExecPlugin;
  readonly clock: ManualClock;
  readonly logLines: unknown[];
  /** How often the program ran. */
  runs(): number;
}

async function withPlugin(script: string, act: (parts: Case) => Promise<void>, config: Partial<ExecConfig> = {}) {
  const programs = new FakePrograms({ login: `echo run >> "$0.runs"\n${script}` });
  const clock = new ManualClock(Date.parse('2030-01-01T00:00:00Z'));
  const command = join(programs.folder, 'login');
  const logLines: unknown[] = [];
  const log = {
    ...silentLog,
    info: (_source: string, message: string, fields?: object) => void logLines.push({ message, ...fields }),
  };
  const fixed = { apiVersion: V1, command, args: [], env: {}, interactiveMode: 'Never', installHint: '' } as const;
  const parts = { env: { HOME: '/home/me', PATH: '/nowhere' }, clock, log, execTimeoutMs: 300 };
  const runs = () => readFileSync(`${command}.runs`, 'utf8').split('\n').length - 1;
  try {
    await act({ plugin: new ExecPlugin({ ...fixed, ...config }, parts), clock, logLines, runs });
  } finally {
    programs.close();
  }
}

/** A script that prints a credential. */
function printing(status: object, apiVersion = V1): string {
  return `cat <<'END'\n${JSON.stringify({ apiVersion, kind: 'ExecCredential', status })}\nEND`;
}

function failing(script: string, expected: RegExp, config: Partial<ExecConfig> = {}): Promise<void> {
  return withPlugin(
    script,
    async ({ plugin }) => {
      await assert.rejects(plugin.current(), (error: Error & { code?: string }) => {
        assert.equal(error.code, 'credentials');
        assert.match(error.message, expected);
        return true;
      });
    },
    config,
  );
}

test('CLIENT-6 requests that wait share one run, and the plugin runs again after a refusal', () =>
  withPlugin(printing({ token: 'secret' }), async ({ plugin, runs }) => {
    const [one, two] = await Promise.all([plugin.current(), plugin.current()]);
    assert.equal(one.authorization, 'Bearer secret');
    assert.equal(one, two);
    assert.equal(runs(), 1);
    const three = await plugin.refresh(one);
    assert.equal(runs(), 2);
    assert.equal(await plugin.refresh(one), three, 'the refused credential was replaced already');
    assert.equal(runs(), 2);
  }));

test('CLIENT-6 the plugin runs again when the token has expired', () =>
  withPlugin(printing({ token: 'x', expirationTimestamp: '2030-01-01T00:01:00Z' }), async ({ plugin, clock, runs }) => {
    await plugin.current();
    await clock.advance(60_000);
    await plugin.current();
    assert.equal(runs(), 1);
    await clock.advance(1);
    await plugin.current();
    assert.equal(runs(), 2);
  }));

test('CLIENT-6 each run of the plugin sets the time when its token expires', () => {
  const [first, second] = ['2030-01-01T00:01:00Z', '2030-01-01T00:02:00Z'].map(expirationTimestamp =>
    printing({ token: 'x', expirationTimestamp }),
  );
  const script = `if [ "$(wc -l < "$0.runs")" = 1 ]; then\n${first}\nelse\n${second}\nfi`;
  return withPlugin(script, async ({ plugin, clock, runs }) => {
    await plugin.current();
    await clock.advance(60_001);
    await plugin.current();
    await clock.advance(59_000);
    await plugin.current();
    assert.equal(runs(), 2);
  });
});

test('CLIENT-6 the output of a plugin is at most 1 MiB', () =>
  failing('head -c 2000000 /dev/zero', /wrote more than 1048576 bytes, killed/));

test('CLIENT-6 a plugin may return a client certificate', () => {
  const { client } = certificates();
  return withPlugin(printing({ clientCertificateData: client.cert, clientKeyData: client.key }), async ({ plugin }) => {
    const credential = await plugin.current();
    assert.equal(credential.authorization, undefined);
    assert.deepEqual(credential.certificate, { certificate: client.cert, key: client.key });
  });
});

test('CLIENT-6 a plugin gets its arguments, the environment and KUBERNETES_EXEC_INFO', () => {
  const script = `printf '%s %s|%s|%s|' "$1" "$2" "$HOME" "$MINE" > "$0.seen"
printf '%s' "$KUBERNETES_EXEC_INFO" >> "$0.seen"
cat "$0.seen" >&2
${printing({ token: 'x' })}`;
  const cluster = { server: 'https://api.test', config: null };
  return withPlugin(
    script,
    async ({ plugin, logLines }) => {
      await plugin.current();
      const [line] = logLines as [{ message: string; stderr: string }];
      assert.equal(line.message, 'Credential plugin wrote to standard error');
      const [args, home, mine, info = ''] = line.stderr.split('|');
      assert.deepEqual([args, home, mine], ['a b c', '/home/me', 'yes']);
      assert.deepEqual(JSON.parse(info), {
        kind: 'ExecCredential',
        apiVersion: V1,
        spec: { cluster, interactive: false },
      });
    },
    { args: ['a', 'b c'], env: { MINE: 'yes' }, cluster },
  );
});

test('CLIENT-6 the error of a token with a line break does not show the token', () =>
  failing(
    printing({ token: 'sec\nret' }),
    /^getting credentials: exec plugin returned a status\.token that contains a line break, which an HTTP header cannot carry: write the token on one line$/,
  ));

test('CLIENT-6 the error of a missing plugin has its install hint, without control characters', () =>
  failing('', /^getting credentials: exec: executable no-such-plugin not found: install it from \[1m here$/, {
    command: 'no-such-plugin',
    installHint: 'install it from \u001b[1m\nhere\n',
  }));

test('CLIENT-6 the error of a plugin that fails has the last lines of its standard error', () =>
  failing('echo no network >&2; exit 3', /login failed with exit code 3: no network$/));

test('CLIENT-6 a plugin that writes nothing to its standard error is not logged', () =>
  withPlugin(printing({ token: 'x' }), async ({ plugin, logLines }) => {
    await plugin.current();
    assert.deepEqual(logLines, []);
  }));

test('CLIENT-6 the error of a plugin that fails without output has its exit code', () =>
  failing('exit 3', /login failed with exit code 3$/));

test('CLIENT-15 the standard error of a plugin is shown without what looks like a credential', () => {
  const lines = [
    'lookup login.eu-west-1.example.com: no such host, see /etc/kubernetes/credentials/config.yaml',
    'got eyJhbGciOiJSUzI1NiIsImtpZCI6Ik.eyJpc3MiOiJrdWJlcm5ldGVz.c2ln',
    '{"token": "abc", "clientKeyData": "def"} token=abc Bearer abc',
    'AwEHoUQDQgAExyzabcxyz==',
  ];
  return withPlugin(`cat >&2 <<'END'\n${lines.join('\n')}\nEND\n${printing({ token: 'x' })}`, async parts => {
    await parts.plugin.current();
    const [line] = parts.logLines as [{ stderr: string }];
    assert.deepEqual(line.stderr.split(' | '), [
      lines[0],
      'got <redacted>',
      '{"token": "<redacted>", "clientKeyData": "<redacted>"} token=<redacted> Bearer <redacted>',
      '<redacted>',
    ]);
  });
});

test('CLIENT-6 the client kills a plugin that does not end', () =>
  failing('sleep 30', /login: not done after 0.3 s, killed$/));

test('CLIENT-6 the output of a plugin must be a credential of the configured version', async () => {
  await failing('echo secret', /did not write a JSON object to its standard output$/);
  await failing('echo "[]"', /did not write a JSON object/);
  await failing(`echo '{"kind":"Pod"}'`, /did not write an ExecCredential$/);
  await failing(
    printing({ token: 'x' }, `${V1}beta1`),
    /configured to use API version \S+v1, plugin returned version \S+v1beta1$/,
  );
  await failing(`echo '{"kind":"ExecCredential","apiVersion":"${V1}"}'`, /didn't return a status field$/);
  await failing(printing({}), /didn't return a token or cert\/key pair$/);
  await failing(printing({ token: 5 }), /returned a status.token that is not a string$/);
  await failing(printing({ clientCertificateData: 'x' }), /returned only certificate or key, not both$/);
  await failing(
    printing({ clientCertificateData: 'x', clientKeyData: 'y' }),
    /the certificate is not a PEM certificate$/,
  );
  await failing(
    printing({ token: 'x', expirationTimestamp: 'soon' }),
    /expirationTimestamp soon, which is not a time$/,
  );
});

test('CLIENT-6 after a failed run the next request runs the plugin again', () =>
  withPlugin(
    `[ -e "$0.second" ] || { touch "$0.second"; exit 1; }\n${printing({ token: 'x' })}`,
    async ({ plugin }) => {
      await assert.rejects(plugin.current());
      assert.equal((await plugin.current()).authorization, 'Bearer x');
    },
  ));

test('CLIENT-6 a plugin that needs a keyboard is an error at the start', async () => {
  await assert.rejects(
    withPlugin('', async () => {}, { interactiveMode: 'Always' }),
    {
      code: 'credentials',
      message: /^exec plugin cannot support interactive mode: standard input is not a terminal/,
    },
  );
});
