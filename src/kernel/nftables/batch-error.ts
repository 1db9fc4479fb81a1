import { KernelError, type KernelErrorCode, type KernelErrorDetail } from '../errors.ts';
import { type Ack, refusalError } from '../netlink/index.ts';
import { type AttributePath, attributePath } from './attribute-path.ts';
import type { Batch } from './batch.ts';
import { type Command, printCommand, printElementCommand, printName, type SetElements } from './command.ts';
import { type Element, printKey } from './element.ts';
import type { Origin } from './encode-command.ts';
import { entryCount, shapeOf } from './entries.ts';
import type { Transaction } from './transaction.ts';

/** One command that the kernel refused. */
export interface Failure {
  readonly command: Command;
  /** The element that the kernel refused, if the kernel pointed at one. */
  readonly element?: Element;
  readonly error: KernelError;
}

/**
 * The kernel refused commands of a transaction and applied nothing. The kernel checks all commands, so there may be
 * several failures. Later failures may only be consequences of earlier ones. The error itself describes the first one.
 */
export class BatchError extends KernelError {
  readonly failures: readonly Failure[];

  constructor(code: KernelErrorCode, detail: KernelErrorDetail, failures: readonly Failure[]) {
    super(code, detail);
    this.failures = failures;
  }
}

/** The error for the refusals among the acknowledgements. Undefined if the kernel refused nothing. */
export function batchError(transaction: Transaction, batch: Batch, acks: readonly Ack[]): KernelError | undefined {
  const failures: Failure[] = [];
  for (const ack of acks) {
    if (!ack.errno) continue;
    const origin = batch.origins[ack.sequence - batch.first - 1];
    // The kernel reports errors of the whole batch (a stale generation, no permission) for its first message.
    if (!origin) return refusalError(`commit to table ${transaction.family} ${transaction.table}`, ack);
    failures.push(toFailure(transaction, batch, origin, ack));
  }
  const [first] = failures;
  return first && new BatchError(first.error.code, first.error, failures);
}

function toFailure(transaction: Transaction, batch: Batch, origin: Origin, ack: Ack): Failure {
  const { command } = origin;
  const message = batch.bytes.subarray(origin.at, origin.at + batch.bytes.readUInt32LE(origin.at));
  const path = ack.offset === undefined ? undefined : attributePath(message, ack.offset);
  const element = command.object.kind === 'elements' ? elementAt(command.object, origin, path) : undefined;
  const { operation, object } = describeCommand(transaction, command, element);
  const error = refusalError(operation, ack, object, path?.text);
  return element ? { command, element, error } : { command, error };
}

/** The element whose entry is on the path. */
function elementAt(
  { set, elements }: SetElements,
  origin: Origin,
  path: AttributePath | undefined,
): Element | undefined {
  if (path?.index === undefined) return undefined;
  const shape = shapeOf(set);
  let remaining = path.index;
  for (let i = origin.element; i < elements.length; i++) {
    const element = elements[i];
    if (!element) return undefined;
    remaining -= entryCount(shape, element);
    if (remaining < 0) return element;
  }
  return undefined;
}

function describeCommand(
  { family, table }: Transaction,
  command: Command,
  element: Element | undefined,
): { operation: string; object: string } {
  const { verb, object } = command;
  const name = printName(family, table, object);
  if (object.kind !== 'elements') {
    return { operation: [...printCommand(family, table, command)].join('\n'), object: name };
  }
  if (element) {
    const operation = printElementCommand(family, table, verb, object.set, element);
    return { operation, object: `${name} element ${printKey(object.set.type, element)}` };
  }
  return { operation: `${verb} ${object.elements.length} elements of ${name}`, object: name };
}
