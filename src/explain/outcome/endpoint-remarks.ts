import type { ServicePortPlan } from '../../plan/index.ts';
import type { Remark } from '../outcome.ts';

/** What the Service asks for when endpoints come, fail and go. Nothing in the usual case. */
export function endpointRemarks({ port, balance }: ServicePortPlan): readonly Remark[] {
  const { slowStartSeconds, ejectAfter, resetAfterSeconds, weights, zoneWeights } = port.options;
  const remarks: Remark[] = [];
  if ((weights || zoneWeights) && balance?.algorithm !== 'weighted') {
    const text = 'the Service has weights, but only the algorithm weighted uses them';
    remarks.push({ code: 'weights-unused', text });
  }
  if (slowStartSeconds > 0) {
    const text = `slow start: a new endpoint gets its whole share after ${slowStartSeconds} s`;
    remarks.push({ code: 'slow-start', text });
  }
  if (ejectAfter > 0 && port.protocol === 'TCP') {
    const failures = ejectAfter === 1 ? '1 failed connection' : `${ejectAfter} failed connections in a row`;
    remarks.push({ code: 'ejection', text: `an endpoint is left out for some time after ${failures}` });
  }
  if (resetAfterSeconds !== undefined && port.protocol === 'TCP') {
    const when = resetAfterSeconds === 0 ? 'at once' : `after ${resetAfterSeconds} s`;
    remarks.push({ code: 'ending', text: `connections of an endpoint that is gone end ${when}` });
  }
  return remarks;
}
