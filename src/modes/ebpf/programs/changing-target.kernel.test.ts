import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ENDPOINTS, LEFT_ALONE, withSocketLab } from '../../../../test/support/socket-lab.ts';
import {
  assemble,
  clear,
  frame,
  load,
  lookup,
  type Part,
  type Place,
  type ProgramSpec,
  r0,
  r2,
  r10,
  store,
  struct,
  u64,
  when,
} from '../../../kernel/bpf/index.ts';
import { type Ip, joinHostPort } from '../../../net/index.ts';
import { connect4, connect6 } from './connect.ts';
import { type ProgramOptions, TargetFlag, type TargetValue } from './index.ts';
import { Frontend4, Frontend6 } from './layout.ts';

const [SERVICE, SERVICE6] = ['10.96.0.10' as Ip, 'fd00:96::10' as Ip];
const PORT = 80;
const OTHER_PORT = 81;

/** The parts of a program one after another, with `inserted` behind each label of that name. */
function insertAfter(part: Part, name: string, inserted: Part): Part {
  if ('kind' in part) return part.kind === 'label' && part.name === name ? [part, inserted] : part;
  return part.map(inner => insertAfter(inner, name, inserted));
}

const { key4, key6 } = frame({ all: struct({ others: [u64, 40] }), key4: Frontend4, key6: Frontend6 });

/**
 * Makes the found element that of the same address at the other port. It looks to the program as if the kernel had used
 * the element again for another Service between finding and reading it.
 */
function reuseElement(digit: '4' | '6'): Part {
  const [key, words] = digit === '4' ? [key4, 1] : [key6, 4];
  // Where the program has the key that it looked up: its stack begins with it.
  const looked = (word: number): Place => ({ base: r10, offset: -(digit === '4' ? 8 : 24) + 4 * word, size: 4 });
  const otherPort = ((OTHER_PORT & 0xff) << 8) | (OTHER_PORT >> 8);
  return [
    clear(key),
    Array.from({ length: words }, (_, i) => [
      load(r2, looked(i)),
      store({ ...key.at.address, offset: key.start + 4 * i }, r2),
    ]),
    [store(key.at.port, otherPort), store(key.at.protocol, 6)],
    [lookup(`frontends${digit}`, key), when(r0, '==', 0, 'leave')],
  ];
}

/** The connect programs of a kernel that uses the element again each time. */
function reusingPrograms(options: ProgramOptions): readonly ProgramSpec[] {
  const four = insertAfter(connect4(options), 'found-v4', reuseElement('4'));
  const mapped = insertAfter(connect6(options), 'found-mapped', reuseElement('4'));
  const six = insertAfter(mapped, 'found-v6', reuseElement('6'));
  return [
    { name: 'connect4', hook: 'connect4', file: 'connect.ts', assembled: assemble(four) },
    { name: 'connect6', hook: 'connect6', file: 'connect.ts', assembled: assemble(six) },
  ];
}

describe('EBPF-19 Services that change while a program chooses', () => {
  for (const [service, family, socketFamily] of [
    [SERVICE, 'IPv4', 'IPv4'],
    [SERVICE, 'IPv4', 'IPv6'],
    [SERVICE6, 'IPv6', 'IPv6'],
  ] as const) {
    const through = `${family} address, ${socketFamily} socket`;

    test(`EBPF-19 an element that the kernel used again leads nowhere (${through})`, () =>
      withSocketLab(
        ({ sockets, pod }) => {
          const pools = ENDPOINTS[family].map(endpoint => sockets.addPool([endpoint]));
          const own: Partial<TargetValue> = { pool: pools[0] ?? 0 };
          const answerWith = (other: Partial<TargetValue>) => {
            sockets.setTarget(service, PORT, own);
            sockets.setTarget(service, OTHER_PORT, other);
            return pod.ask(service, PORT, socketFamily);
          };
          const { ip, port } = ENDPOINTS[family][0] ?? assert.fail('there is no endpoint');
          assert.equal(answerWith(own), joinHostPort(ip, port), 'the same target again is no change');
          assert.equal(answerWith({ pool: pools[1] ?? 0 }), LEFT_ALONE, 'the endpoint of another Service');
          assert.equal(answerWith({ ...own, flags: TargetFlag.refuse }), LEFT_ALONE, 'another Service refuses');
          assert.equal(answerWith({ ...own, flags: TargetFlag.nodeOnly }), LEFT_ALONE);
        },
        { programs: reusingPrograms },
      ));
  }
});
