import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rememberSecret, withoutLikelySecrets, withoutSecrets, withoutUrlCredentials } from './secrets.ts';

test('LIB-7 a remembered secret is removed wherever it stands, also if the text cuts it off', () => {
  const token = 'first-16-letters-and-the-rest';
  assert.equal(withoutSecrets(`a ${token}`), `a ${token}`);
  rememberSecret(token);
  assert.equal(withoutSecrets(`a ${token}, ${token}${token} b`), 'a <redacted>, <redacted><redacted> b');
  assert.equal(withoutSecrets(`a ${token.slice(0, 20)} b`), 'a <redacted> b');
  assert.equal(withoutSecrets(token.slice(0, 15)), token.slice(0, 15));
});

test('LIB-7 each line of a key is a secret, but not the lines that every key has', () => {
  rememberSecret(
    '-----BEGIN PRIVATE KEY-----\nline-one-of-the-key\r\nline-two-of-the-key\n-----END PRIVATE KEY-----\n',
  );
  assert.equal(
    withoutSecrets('x line-two-of-the-key -----END PRIVATE KEY-----'),
    'x <redacted> -----END PRIVATE KEY-----',
  );
});

test('LIB-7 a secret is also removed from quoted text, and a text of a few letters is no secret', () => {
  rememberSecret('back\\slash"quote');
  assert.equal(withoutSecrets(JSON.stringify({ a: 'back\\slash"quote' })), '{"a":"<redacted>"}');
  rememberSecret('short');
  assert.equal(withoutSecrets('a short text'), 'a short text');
});

test('LIB-7 only the newest secrets are kept', () => {
  const secret = (i: number) => `secret-number-${i}!`;
  for (let i = 0; i < 1000; i++) rememberSecret(secret(i));
  assert.equal(withoutSecrets(secret(0)), secret(0));
  assert.equal(withoutSecrets(secret(999)), '<redacted>');
});

test('LIB-7 secrets that begin alike, or contain each other, are removed completely', () => {
  rememberSecret('the-same-sixteen-letters.one');
  rememberSecret('the-same-sixteen-letters.other');
  rememberSecret('xteen-letters.one');
  for (const ending of ['one', 'other', 'o']) {
    assert.equal(withoutSecrets(`a the-same-sixteen-letters.${ending} b`), 'a <redacted> b');
  }
});

test('INSPECT-22 everything that looks like a secret is removed, and names of Services stay', () => {
  const jwt = `eyJ${'a'.repeat(20)}.${'b'.repeat(20)}.${'c'.repeat(20)}`;
  const cases: readonly (readonly [text: string, clean: string])[] = [
    ['token: abcdef12', 'token: <redacted>'],
    ['{"password":"hunter22","a":1}', '{"password":"<redacted>","a":1}'],
    ['"{\\"password\\":\\"hunter22\\"}"', '"{\\"password\\":\\"<redacted>\\"}"'],
    ['--client-secret=abcdef12 --v=2', '--client-secret=<redacted> --v=2'],
    ['client-key-data: LS0tLS1CRUdJTi', 'client-key-data: <redacted>'],
    ['Authorization: Bearer abcdefgh.ijk', 'Authorization: Bearer <redacted>'],
    [`a ${jwt} b`, 'a <redacted> b'],
    ['-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nx', '<redacted>\nx'],
    ['https://user:secret@host/x', 'https://<redacted>@host/x'],
    ['default/token:http and secret/web:8080', 'default/token:http and secret/web:8080'],
    ['map ip kube-proxy targets { token }', 'map ip kube-proxy targets { token }'],
  ];
  for (const [text, clean] of cases) assert.equal(withoutLikelySecrets(text), clean);
});

test('INSPECT-8 a URL loses its user and password, and nothing else', () => {
  assert.equal(withoutUrlCredentials('https://a:b@c:6443/d?e=f@g'), 'https://<redacted>@c:6443/d?e=f@g');
  assert.equal(withoutUrlCredentials('https://c:6443/d@e'), 'https://c:6443/d@e');
});
