import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate and its key, in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface Certificates {
  readonly ca: Certificate;
  /** The CA of another cluster. */
  readonly otherCa: Certificate;
  /** A CA that `ca` has signed. It signs `behindIntermediate`. */
  readonly intermediate: Certificate;
  /** For 127.0.0.1, ::1, localhost and api.test. */
  readonly server: Certificate;
  readonly expired: Certificate;
  /** For elsewhere.test. */
  readonly wrongName: Certificate;
  readonly behindIntermediate: Certificate;
  readonly client: Certificate;
  readonly otherClient: Certificate;
}

let created: Certificates | undefined;

/** For tests: certificates from openssl. The first call creates them for all tests. */
export function certificates(): Certificates {
  created ??= create();
  return created;
}

function create(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
  try {
    const openssl = (...args: string[]) =>
      execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
    const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const read = (name: string) => ({
      cert: readFileSync(join(folder, `${name}.crt`), 'utf8'),
      key: readFileSync(join(folder, `${name}.key`), 'utf8'),
    });
    const authority = (name: string) => {
      openssl('req', '-x509', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.crt`, '-subj', `/CN=${name}`);
      return read(name);
    };
    const signed = (name: string, extensions: string, { by = 'ca', days = '3650' } = {}) => {
      writeFileSync(join(folder, `${name}.ext`), extensions);
      openssl(
        'req',
        '-new',
        ...newKey,
        '-keyout',
        `${name}.key`,
        '-out',
        `${name}.csr`,
        '-subj',
        `/O=system:test/CN=${name}`,
      );
      const files = ['-in', `${name}.csr`, '-out', `${name}.crt`, '-extfile', `${name}.ext`];
      openssl('x509', '-req', ...files, '-CA', `${by}.crt`, '-CAkey', `${by}.key`, '-CAcreateserial', '-days', days);
      return read(name);
    };
    const here = 'subjectAltName=IP:127.0.0.1,IP:::1,DNS:localhost,DNS:api.test';
    return {
      ca: authority('ca'),
      otherCa: authority('other-ca'),
      server: signed('server', here),
      expired: signed('expired', here, { days: '-1' }),
      wrongName: signed('wrong-name', 'subjectAltName=DNS:elsewhere.test'),
      intermediate: signed('intermediate', 'basicConstraints=critical,CA:TRUE'),
      behindIntermediate: signed('behind-intermediate', here, { by: 'intermediate' }),
      client: signed('client', 'extendedKeyUsage=clientAuth'),
      otherClient: signed('other-client', 'extendedKeyUsage=clientAuth'),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
