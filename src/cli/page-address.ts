import { splitHostPort } from '../config/index.ts';
import { isLoopback, parseIp } from '../net/index.ts';
import type { PageAddress } from '../page/index.ts';
import { FlagError } from './flags/index.ts';

/** The values of the flags that say where a page is served, and who may see it. */
export interface PageAddressTexts {
  readonly address: string;
  readonly certFile: string;
  readonly keyFile: string;
  readonly tokenFile: string;
}

/** `prefix` is what the names of the flags begin with: `--page-`. Throws a FlagError that names missing flags. */
export function pageAddress(texts: PageAddressTexts, prefix: string, mayUseOtherPort: boolean): PageAddress {
  const { address, certFile, keyFile, tokenFile } = texts;
  const { host, port } = splitHostPort(address) ?? { host: '', port: '' };
  const ip = parseIp(host);
  if (ip === undefined) throw new FlagError(`${prefix}bind-address must be ADDRESS:PORT`);
  const common = { ip, port: Number(port), mayUseOtherPort };
  const files = Object.entries({ 'tls-cert-file': certFile, 'tls-key-file': keyFile, 'token-file': tokenFile });
  const missing = files.filter(([, path]) => path === '').map(([name]) => `${prefix}${name}`);
  if (missing.length === files.length && isLoopback(ip)) return { ...common, files: undefined };
  if (missing.length === 0) return { ...common, files: { certFile, keyFile, tokenFile } };
  const list = missing.length > 1 ? `${missing.slice(0, -1).join(', ')} and ${missing.at(-1)}` : missing.join();
  throw new FlagError(
    isLoopback(ip)
      ? `${prefix}bind-address ${address} with TLS or a token also needs ${list}`
      : `${prefix}bind-address ${address} is not a loopback address, so it also needs ${list}`,
  );
}
