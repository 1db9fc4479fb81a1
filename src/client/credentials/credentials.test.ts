import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { certificates } from '../../../test/support/certificates.ts';
import { KubeconfigFolder } from '../../../test/support/kubeconfig.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import type { UserConfig } from '../client-config.ts';
import { silentLog } from '../client-log.ts';
import { type CredentialSource, credentialSource } from './credentials.ts';

interface Case {
  readonly folder: KubeconfigFolder;
  readonly clock: ManualClock;
  readonly logLines: string[];
  source(user: UserConfig): CredentialSource;
}

async function withFiles(act: (parts: Case) => Promise<void>): Promise<void> {
  const folder = new KubeconfigFolder();
  const clock = new ManualClock(1_000_000);
  const logLines: string[] = [];
  const log = (_source: string, message: string) => void logLines.push(message);
  const clientLog = { ...silentLog, error: log, warning: log };
  try {
    await act({ folder, clock, logLines, source: user => credentialSource(user, { env: {}, clock, log: clientLog }) });
  } finally {
    folder.close();
  }
}

test('CLIENT-5 a user may have no credential, a token, or a name and a password', () =>
  withFiles(async ({ source }) => {
    assert.deepEqual(await source({}).current(), { authorization: undefined, certificate: undefined });
    assert.equal((await source({ token: 'secret' }).current()).authorization, 'Bearer secret');
    const basic = source({ basic: { username: 'me', password: 'p:w' } });
    assert.equal((await basic.current()).authorization, `Basic ${Buffer.from('me:p:w').toString('base64')}`);
  }));

test('CLIENT-5 the client reads a token file again after a minute, and at once after a refusal', () =>
  withFiles(async ({ folder, clock, source }) => {
    const tokenFile = folder.write('token', 'one\n');
    const credentials = source({ tokenFile, token: 'older' });
    assert.equal((await credentials.current()).authorization, 'Bearer one');
    folder.write('token', 'two');
    await clock.advance(59_000);
    assert.equal((await credentials.current()).authorization, 'Bearer one');
    await clock.advance(1000);
    const two = await credentials.current();
    assert.equal(two.authorization, 'Bearer two');
    folder.write('token', 'three');
    assert.equal((await credentials.refresh(two)).authorization, 'Bearer three');
  }));

test('CLIENT-5 if a token file is gone or empty, the former token stays in use, and the log says so', () =>
  withFiles(async ({ folder, clock, logLines, source }) => {
    const tokenFile = folder.write('token', 'one');
    const credentials = source({ tokenFile });
    rmSync(tokenFile);
    await clock.advance(60_000);
    assert.equal((await credentials.current()).authorization, 'Bearer one');
    folder.write('token', '\n');
    await clock.advance(60_000);
    assert.equal((await credentials.current()).authorization, 'Bearer one');
    assert.deepEqual(logLines, Array(2).fill('Could not reload a file, its former content is used'));
    folder.write('token', 'two');
    await clock.advance(60_000);
    assert.equal((await credentials.current()).authorization, 'Bearer two');
  }));

test('CLIENT-5 a missing token file is an error at the start, unless there is a token too', () =>
  withFiles(async ({ source }) => {
    assert.throws(() => source({ tokenFile: '/nonexistent' }), {
      code: 'credentials',
      message: 'open /nonexistent: no such file or directory',
    });
    assert.equal((await source({ tokenFile: '/nonexistent', token: 'x' }).current()).authorization, 'Bearer x');
  }));

test('CLIENT-5 the error of a token file with a line break names the file; the former token stays in use', () =>
  withFiles(async ({ folder, clock, logLines, source }) => {
    const tokenFile = folder.write('token', 'sec\nret');
    const problem = 'contains a line break, which an HTTP header cannot carry: write the token on one line';
    assert.throws(() => source({ tokenFile }), { code: 'credentials', message: `${tokenFile} ${problem}` });
    folder.write('token', 'one');
    const credentials = source({ tokenFile });
    folder.write('token', 'sec\x1bret');
    await clock.advance(60_000);
    assert.equal((await credentials.current()).authorization, 'Bearer one');
    assert.deepEqual(logLines, ['Could not reload a file, its former content is used']);
  }));

test('CLIENT-5 a new client certificate is used as soon as both of its files are replaced', () =>
  withFiles(async ({ folder, clock, logLines, source }) => {
    const { client, otherClient } = certificates();
    const file = (name: string, content: string) =>
      ({ kind: 'file', path: folder.write(name, content), field: name }) as const;
    const certificate = file('client-certificate', client.cert);
    const key = file('client-key', client.key);
    const credentials = source({ certificate: { certificate, key } });
    const first = await credentials.current();
    assert.equal(first.certificate?.certificate, client.cert.trim());
    folder.write('client-certificate', otherClient.cert);
    await clock.advance(60_000);
    assert.deepEqual(await credentials.current(), first);
    assert.deepEqual(logLines, ['The new client certificate cannot be used yet, the former one is used']);
    folder.write('client-key', otherClient.key);
    await clock.advance(60_000);
    assert.equal((await credentials.current()).certificate?.key, otherClient.key.trim());
  }));

test('CLIENT-5 a client certificate that cannot be used is an error at the start', () =>
  withFiles(async ({ source }) => {
    const { client, otherClient } = certificates();
    const pair = (cert: string, key: string) => ({
      certificate: {
        certificate: { kind: 'data', pem: cert, field: 'client-certificate-data' } as const,
        key: { kind: 'data', pem: key, field: 'client-key-data' } as const,
      },
    });
    const both = 'client-certificate-data and client-key-data: ';
    assert.throws(() => source(pair('x', client.key)), { message: `${both}the certificate is not a PEM certificate` });
    assert.throws(() => source(pair(client.cert, 'x')), {
      message: `${both}the key is not a PEM private key, or it has a password`,
    });
    assert.throws(() => source(pair(client.cert, otherClient.key)), {
      message: `${both}the key does not belong to the certificate`,
    });
  }));
