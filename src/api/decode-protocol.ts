import { describeValue } from './field-problem.ts';
import type { FieldReader, Fields } from './field-reader.ts';
import type { Protocol } from './objects.ts';

/** The default is TCP, in every kind that has the field. */
export function decodeProtocol(reader: FieldReader, fields: Fields): Protocol {
  const value = fields.protocol ?? 'TCP';
  if (value === 'TCP' || value === 'UDP' || value === 'SCTP') return value;
  reader.addProblem('protocol', `is ${describeValue(value)}, but must be TCP, UDP or SCTP`);
  return 'TCP';
}
