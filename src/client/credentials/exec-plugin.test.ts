import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { certificates } from '../../../test/support/certificates.ts';
import { FakePrograms } from '../../../test/support/fake-programs.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import type { ExecConfig } from '../client-config.ts';
import { silent } from '../client-log.ts';
import { ExecPlugin } from './exec-plugin.ts';

const V1 = 'client.authentication.k8s.io/v1';

interface Case {
  readonly plugin: ExecPlugin;
  readonly clock: ManualClock;
  readonly told: unknown[];
  /** How often the program ran. */
  runs(): number;
}

async function withPlugin(script: string, act: (parts: Case) => Promise<void>, config: Partial<ExecConfig> = {}) {
  const programs = new FakePrograms({ login: `echo run >> "$0.runs"\n${script}` });
  const clock = new ManualClock(Date.parse('2030-01-01T00:00:00Z'));
  const command = join(programs.folder, 'login');
  const told: unknown[] = [];
  const log = { ...silent, info: (message: string, fields?: object) => void told.push({ message, ...fields }) };
  const fixed = { apiVersion: V1, command, args: [], env: {}, interactiveMode: 'Never', installHint: '' } as const;
  const parts = { env: { HOME: '/home/me', PATH: '/nowhere' }, clock, log, execTimeoutMs: 300 };
  const runs = () => readFileSync(`${command}.runs`, 'utf8').split('\n').length - 1;
  try {
    await act({ plugin: new ExecPlugin({ ...fixed, ...config }, parts), clock, told, runs });
  } finally {
    programs.close();
  }
}

/** A script that writes a credential. */
function says(status: object, apiVersion = V1): string {
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

test('CLIENT-6 a token is asked for once, by all who wait, and again when the server refused it', () =>
  withPlugin(says({ token: 'secret' }), async ({ plugin, runs }) => {
    const [one, two] = await Promise.all([plugin.current(), plugin.current()]);
    assert.equal(one.authorization, 'Bearer secret');
    assert.equal(one, two);
    assert.equal(runs(), 1);
    const three = await plugin.refresh(one);
    assert.equal(runs(), 2);
    assert.equal(await plugin.refresh(one), three, 'the refused one was replaced already');
    assert.equal(runs(), 2);
  }));

test('CLIENT-6 a token that has expired is asked for again', () =>
  withPlugin(says({ token: 'x', expirationTimestamp: '2030-01-01T00:01:00Z' }), async ({ plugin, clock, runs }) => {
    await plugin.current();
    await clock.advance(60_000);
    await plugin.current();
    assert.equal(runs(), 1);
    await clock.advance(1);
    await plugin.current();
    assert.equal(runs(), 2);
  }));

test('CLIENT-6 a plugin may give a client certificate', () => {
  const { client } = certificates();
  return withPlugin(says({ clientCertificateData: client.cert, clientKeyData: client.key }), async ({ plugin }) => {
    const credential = await plugin.current();
    assert.equal(credential.authorization, undefined);
    assert.deepEqual(credential.certificate, { certificate: client.cert, key: client.key });
  });
});

test('CLIENT-6 a plugin gets its arguments, our environment and what it wants to know', () => {
  const script = `printf '%s %s|%s|%s|' "$1" "$2" "$HOME" "$MINE" > "$0.seen"
printf '%s' "$KUBERNETES_EXEC_INFO" >> "$0.seen"
cat "$0.seen" >&2
${says({ token: 'x' })}`;
  const cluster = { server: 'https://api.test', config: null };
  return withPlugin(
    script,
    async ({ plugin, told }) => {
      await plugin.current();
      const [line] = told as [{ message: string; stderr: string }];
      assert.equal(line.message, 'Credential plugin');
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

test('CLIENT-6 a token that no header can carry is told, and not shown', () =>
  failing(
    says({ token: 'sec\nret' }),
    /^getting credentials: exec plugin returned a status\.token that holds a line break, which no header can carry: write the token on one line$/,
  ));

test('CLIENT-6 a plugin that is missing gives its hint, without control characters', () =>
  failing('', /^getting credentials: exec: executable no-such-plugin not found: install it from \[1m here$/, {
    command: 'no-such-plugin',
    installHint: 'install it from \u001b[1m\nhere\n',
  }));

test('CLIENT-6 a plugin that fails is told with its last words', () =>
  failing('echo no network >&2; exit 3', /login failed with exit code 3: no network$/));

test('CLIENT-6 a plugin that does not end is ended', () => failing('sleep 30', /login: not done after 0.3 s, killed$/));

test('CLIENT-6 what a plugin says must be a credential of the version that it was asked for', async () => {
  await failing('echo secret', /did not write a JSON object to its standard output$/);
  await failing('echo "[]"', /did not write a JSON object/);
  await failing(`echo '{"kind":"Pod"}'`, /did not write an ExecCredential$/);
  await failing(
    says({ token: 'x' }, `${V1}beta1`),
    /configured to use API version \S+v1, plugin returned version \S+v1beta1$/,
  );
  await failing(`echo '{"kind":"ExecCredential","apiVersion":"${V1}"}'`, /didn't return a status field$/);
  await failing(says({}), /didn't return a token or cert\/key pair$/);
  await failing(says({ token: 5 }), /returned a status.token that is no text$/);
  await failing(says({ clientCertificateData: 'x' }), /returned only certificate or key, not both$/);
  await failing(says({ clientCertificateData: 'x', clientKeyData: 'y' }), /the certificate is no PEM certificate$/);
  await failing(says({ token: 'x', expirationTimestamp: 'soon' }), /expirationTimestamp soon, which is no time$/);
});

test('CLIENT-6 a failed run is tried again by the next request', () =>
  withPlugin(`[ -e "$0.second" ] || { touch "$0.second"; exit 1; }\n${says({ token: 'x' })}`, async ({ plugin }) => {
    await assert.rejects(plugin.current());
    assert.equal((await plugin.current()).authorization, 'Bearer x');
  }));

test('CLIENT-6 a plugin that needs a keyboard is refused at the start', async () => {
  await assert.rejects(
    withPlugin('', async () => {}, { interactiveMode: 'Always' }),
    {
      code: 'credentials',
      message: /^exec plugin cannot support interactive mode: standard input is not a terminal/,
    },
  );
});
