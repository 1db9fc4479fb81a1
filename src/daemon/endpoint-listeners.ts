import { millisecondsText } from '../lib/duration-words.ts';
import { errorText } from '../lib/error-text.ts';
import { ReportOnce } from '../lib/report-once.ts';
import { endedPortName } from '../plan/index.ts';
import { ejectionPortName, ejectionWords, type ProxyListeners } from '../proxy/index.ts';
import type { ReportTargets } from './listeners.ts';

type EjectionListeners = Pick<ProxyListeners, 'ejectionChanged' | 'connectionEventsLost'>;

/** Reports endpoints that are left out because connections failed. */
export function ejectionListeners({ log, metrics, history, ejectionChanged }: ReportTargets): EjectionListeners {
  return {
    ejectionChanged(report) {
      const { family: ipFamily, service, endpoint, leftOut } = report;
      const fields = { ipFamily, servicePort: ejectionPortName(report), endpoint };
      if (leftOut) {
        const { cause, failures, seconds } = leftOut;
        log.warning('proxy', 'Endpoint is left out, because new connections fail', {
          ...fields,
          cause,
          failures,
          seconds,
        });
        metrics.endpointEjected(ipFamily);
      } else log.info('proxy', 'Endpoint that was left out is used again', fields);
      history.learned(service, ejectionWords(report));
      ejectionChanged(report);
    },
    connectionEventsLost() {
      metrics.connectionEventsLost();
      log.v(2, 'proxy', 'The kernel dropped events about connections');
    },
  };
}

type EndListeners = Pick<ProxyListeners, 'connectionsEnded' | 'connectionsNotEnded'>;

/** Reports the end of connections of endpoints that are gone. */
export function endListeners({ log, metrics, history, connectionsNotEnded }: ReportTargets): EndListeners {
  const logged = new ReportOnce();
  return {
    connectionsEnded(ipFamily, { ended, problem }, milliseconds) {
      for (const [endpoint, { connections, sockets }] of ended) {
        const names = { servicePort: endedPortName(endpoint), endpoint: endpoint.endpoint.text };
        const fields = { ipFamily, ...names, connections, sockets, took: millisecondsText(milliseconds) };
        log.info('proxy', 'Ended the connections of an endpoint that is gone', fields);
        metrics.connectionsEnded(ipFamily, connections);
        history.connectionsEnded(ipFamily, endpoint, connections);
      }
      if (problem === undefined || !logged.add('sockets', problem)) return;
      log.warning('proxy', 'Some clients notice only with their next packet that a connection ended', { problem });
    },
    connectionsNotEnded(ipFamily, ended, error) {
      const reason = errorText(error);
      log.error('proxy', 'Could not end the connections of endpoints that are gone', { ipFamily, err: reason });
      for (const service of new Set(ended.map(({ service }) => service))) connectionsNotEnded(service, reason);
    },
  };
}
