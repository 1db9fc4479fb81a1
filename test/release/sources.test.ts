import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ARCHITECTURES, type Lock } from '../../scripts/release/lock.mjs';
import { DEFAULT_PACKAGES, SLIM_PACKAGES } from '../../scripts/release/packages.mjs';
import { debianPackage } from '../../scripts/release/sources.mjs';

describe('packages from a mirror', () => {
  const server = createServer((request, response) => {
    response.statusCode = request.url?.endsWith('/there.deb') ? 200 : 404;
    response.end('content');
  });
  const cache = mkdtempSync(join(tmpdir(), 'cache-'));
  const variables = { DEBIAN_MIRROR: process.env.DEBIAN_MIRROR, XDG_CACHE_HOME: process.env.XDG_CACHE_HOME };

  before(async () => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    process.env.DEBIAN_MIRROR = `http://127.0.0.1:${(server.address() as AddressInfo).port}/debian`;
    process.env.XDG_CACHE_HOME = cache;
  });

  after(() => {
    for (const [name, value] of Object.entries(variables)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    server.close();
    rmSync(cache, { recursive: true });
  });

  test('REL-13 a version that the mirror no longer has is named, with the command that renews the lock', async () => {
    await assert.rejects(
      debianPackage('libc6', { version: '2.41-1', path: 'pool/main/gone.deb', sha256: '0' }),
      error => {
        assert.match(
          String(error),
          /no longer has libc6 2\.41-1.*\/debian\/pool\/main\/gone\.deb\n.*npm run release -- --renew-lock/,
        );
        return true;
      },
    );
  });

  test('REL-13 a package with another checksum is refused', async () => {
    const pin = { version: '1', path: 'pool/updates/main/there.deb', sha256: 'a'.repeat(64) };
    await assert.rejects(
      debianPackage('x', pin),
      /\/debian-security\/pool\/.*has the SHA-256 ed70.*, and the lock says aaaa/,
    );
  });

  test('REL-13 the lock pins every package of the images for both architectures', () => {
    const { debian, npm }: Lock = JSON.parse(readFileSync('scripts/release/lock.json', 'utf8'));
    for (const architecture of ARCHITECTURES) {
      const pins = debian.packages[architecture];
      assert.deepEqual(Object.keys(pins).sort(), [...DEFAULT_PACKAGES].sort());
      for (const { sha256 } of Object.values(pins)) assert.match(sha256, /^[0-9a-f]{64}$/);
    }
    for (const name of SLIM_PACKAGES) assert.ok(DEFAULT_PACKAGES.includes(name), name);
    for (const { integrity } of Object.values(npm)) assert.match(integrity, /^sha512-/);
  });
});
