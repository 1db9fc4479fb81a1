import { readSysctl } from '../kernel/sysctl.ts';
import type { RunningProxy } from '../proxy/index.ts';
import { ProgrammedReport } from './programmed-report.ts';
import type { RunParts } from './run.ts';

/** Reports to the cluster what this node has programmed, if the operator asks for it. */
export function openProgrammedReport(parts: RunParts, proxy: RunningProxy): void {
  const { options, objects, observability, resources, nodeName: node, programmed } = parts;
  const { log, reportProgrammed } = options;
  const { client, ownNode } = objects;
  if (!reportProgrammed || !client) return;
  const { namespace } = reportProgrammed;
  const report = new ProgrammedReport({
    ...reportProgrammed,
    client,
    node,
    nodeUid: () => ownNode.node?.metadata.uid,
    bootId: bootId(),
    state: () => programmed.state(proxy.loop.isPending),
    setAside: () => proxy.mode.setAside(),
    onFailure: err =>
      log.warning('programmed', 'The Lease with the programmed versions was not written; the proxy retries', {
        err,
        namespace,
        advice: `let the proxy's user create and patch leases in the namespace ${namespace}, which must exist`,
      }),
    onRecovery: () => log.info('programmed', 'The Lease with the programmed versions is written again', { namespace }),
  });
  resources.add('programmed report', () => report.close());
  observability.checks.add('programmed', () =>
    report.failure === undefined ? undefined : { note: `the Lease is not written: ${report.failure}` },
  );
}

/** Undefined if the kernel does not say it. A reader of the Lease then does not notice that the node was booted. */
function bootId(): string | undefined {
  try {
    return readSysctl('kernel/random/boot_id');
  } catch {
    return undefined;
  }
}
