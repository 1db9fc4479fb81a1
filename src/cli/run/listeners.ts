import { errorText } from '../../lib/error-text.ts';
import type { Logger } from '../../lib/log.ts';
import type { ProxyListeners } from '../../proxy/index.ts';

/** Log lines for what the proxy does. */
export function loggingListeners(log: Logger): ProxyListeners {
  const failed = (what: string, error: unknown) => log.error('proxy', 'Failed', { what, err: errorText(error) });
  return {
    log: {
      problem: ({ where, object, field, message }) =>
        log.warning('proxy', 'Cannot be used', { where, object, field, reason: message }),
      recovered: where => log.info('proxy', 'Is good again', { where }),
      synced: (ipFamily, servicePorts, milliseconds) => {
        if (servicePorts > 0)
          log.info('proxy', 'Synced', { ipFamily, servicePorts, took: `${milliseconds.toFixed(1)}ms` });
      },
      failed,
    },
    mode: {
      progress: (ipFamily, servicePorts, of) => log.info('nftables', 'Programming', { ipFamily, servicePorts, of }),
      setAside: ({ family: ipFamily, servicePort, error: err }) =>
        log.error('nftables', 'Refused by the kernel and set aside until it changes', { ipFamily, servicePort, err }),
      driftRepaired: (ipFamily, what) =>
        log.warning('nftables', 'Repaired what someone else changed', { ipFamily, what }),
      measured: () => {},
      noticed: (ipFamily, what) => log.warning('proxy', 'Noticed', { ipFamily, what }),
      failed,
    },
    staleFlowsDeleted: (ipFamily, deleted) => log.info('proxy', 'Deleted stale flows', { ipFamily, deleted }),
  };
}
