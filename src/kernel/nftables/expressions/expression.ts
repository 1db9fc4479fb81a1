import type { Bitwise, Shift } from './bitwise.ts';
import type { Byteorder } from './byteorder.ts';
import type { Cmp } from './cmp.ts';
import type { Connlimit } from './connlimit.ts';
import type { Counter } from './counter.ts';
import type { Ct, CtSet } from './ct.ts';
import type { Dynset } from './dynset.ts';
import type { Fib } from './fib.ts';
import type { Jhash, Symhash } from './hash.ts';
import type { Immediate, VerdictStatement } from './immediate.ts';
import type { Limit } from './limit.ts';
import type { Log } from './log.ts';
import type { Lookup } from './lookup.ts';
import type { Masquerade } from './masquerade.ts';
import type { Meta, MetaSet } from './meta.ts';
import type { Nat } from './nat.ts';
import type { Notrack } from './notrack.ts';
import type { Numgen } from './numgen.ts';
import type { ObjectMap, ObjectReference } from './objref.ts';
import type { Payload, PayloadWrite } from './payload.ts';
import type { Quota } from './quota.ts';
import type { Range } from './range.ts';
import type { Redirect } from './redirect.ts';
import type { Reject } from './reject.ts';
import type { Socket } from './socket.ts';
import type { UnknownExpression } from './unknown.ts';

/** One step of a rule. The kernel runs the expressions of a rule in order, until one of them ends the rule. */
export type Expression =
  | Bitwise
  | Byteorder
  | Cmp
  | Connlimit
  | Counter
  | Ct
  | CtSet
  | Dynset
  | Fib
  | Immediate
  | Jhash
  | Limit
  | Log
  | Lookup
  | Masquerade
  | Meta
  | MetaSet
  | Nat
  | Notrack
  | Numgen
  | ObjectMap
  | ObjectReference
  | Payload
  | PayloadWrite
  | Quota
  | Range
  | Redirect
  | Reject
  | Shift
  | Socket
  | Symhash
  | UnknownExpression
  | VerdictStatement;
