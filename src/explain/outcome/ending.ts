import type { ServicePort } from '../../model/index.ts';
import type { Remark } from '../outcome.ts';

/** What the Service asks for when an endpoint is gone. Nothing in the usual case: connections go on. */
export function endingRemarks({ protocol, options: { resetAfterSeconds } }: ServicePort): readonly Remark[] {
  if (resetAfterSeconds === undefined || protocol !== 'TCP') return [];
  const when = resetAfterSeconds === 0 ? 'at once' : `after ${resetAfterSeconds} s`;
  return [{ code: 'ending', text: `connections of an endpoint that is gone end ${when}` }];
}
