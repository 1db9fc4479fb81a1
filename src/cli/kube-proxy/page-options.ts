import type { DaemonOptions } from '../../daemon/index.ts';
import { DEFAULT_PAGE_ADDRESS } from '../../page/index.ts';
import type { ParsedFlags } from '../flags/index.ts';
import { pageAddress } from '../page-address.ts';
import type { KubeProxyFlags } from './flags/index.ts';

/** A proxy without an API server is for trying things out, so it has a page. Throws a FlagError. */
export function pageOptions({ values, changed }: ParsedFlags<KubeProxyFlags>): DaemonOptions['page'] {
  const isDefault = values.manifests !== '' && !changed.has('page-bind-address');
  const address = isDefault ? DEFAULT_PAGE_ADDRESS : values['page-bind-address'];
  if (address === '') return undefined;
  const texts = {
    address,
    certFile: values['page-tls-cert-file'],
    keyFile: values['page-tls-key-file'],
    tokenFile: values['page-token-file'],
  };
  return { address: pageAddress(texts, '--page-', isDefault), allows: values['page-allow'] };
}
