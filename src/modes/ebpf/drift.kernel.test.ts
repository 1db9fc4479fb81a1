import assert from 'node:assert/strict';
import { unlinkSync } from 'node:fs';
import { describe, test } from 'node:test';
import { EbpfLab } from '../../../test/support/ebpf-mode.ts';
import { service, slice } from '../../../test/support/objects.ts';
import type { BpfMap } from '../../kernel/bpf/index.ts';
import { assemble, BpfLink, BpfProgram, openPin, returns } from '../../kernel/bpf/index.ts';
import type { Ip } from '../../net/index.ts';
import { encodeSlot, encodeTarget, frontendKey, type MapName, nodeAddressKey } from './programs/index.ts';

const WEB = service('web', { clusterIP: '10.96.0.10', sessionAffinity: 'ClientIP' });

function withServed(work: (lab: EbpfLab) => Promise<void>): Promise<void> {
  return EbpfLab.with(async lab => {
    lab.harness.set(WEB, slice('web-1', ['10.244.1.2']));
    await lab.harness.sync();
    await work(lab);
  });
}

/** Looks, and checks that the mode reported this repair and serves. */
async function expectRepair(lab: EbpfLab, line: string, look: 'quick' | 'thorough' = 'quick'): Promise<void> {
  await lab.harness.mode.lookForDrift(look);
  assert.deepEqual(lab.lines, [`repaired: ${line}`]);
  assert.equal(lab.ask('10.96.0.10'), '10.244.1.2');
  await lab.harness.mode.lookForDrift('thorough');
  assert.equal(lab.lines.length, 1);
}

function openLink(lab: EbpfLab, hook: string): BpfLink {
  return BpfLink.of(openPin(`${lab.folder}/link-${hook}`) ?? assert.fail(`there is no link of ${hook}`));
}

/** A program that leaves all sockets alone. */
function otherProgram(): BpfProgram {
  return BpfProgram.load({ name: 'other', hook: 'connect4', file: 'other', assembled: assemble(returns(1)) }, () => 0);
}

describe('EBPF-8 drift', () => {
  const PUT_BACK = 'put the programs back into their links';

  test('EBPF-8 a link that was detached is made again', () =>
    withServed(async lab => {
      const link = openLink(lab, 'connect4');
      link.detach();
      link.close();
      assert.equal(lab.ask('10.96.0.10'), 'ENETUNREACH');
      await expectRepair(lab, `the link of connect4 was detached; ${PUT_BACK}`);
    }));

  test('EBPF-8 a pin that was removed is made again', () =>
    withServed(async lab => {
      unlinkSync(`${lab.folder}/link-getpeername4`);
      await expectRepair(lab, `the pin of the link of getpeername4 was removed; ${PUT_BACK}`);
      unlinkSync(`${lab.folder}/peers`);
      await lab.harness.mode.lookForDrift('quick');
      assert.equal(lab.lines.at(-1), `repaired: the pin of map peers was removed; ${PUT_BACK}`);
      assert.ok(lab.pins().includes('peers'));
    }));

  test('EBPF-8 a program that was put into a link is replaced', () =>
    withServed(async lab => {
      const [link, program] = [openLink(lab, 'connect4'), otherProgram()];
      link.update(program);
      link.close();
      program.close();
      assert.equal(lab.ask('10.96.0.10'), 'ENETUNREACH');
      await expectRepair(lab, `another program was put into the link of connect4; ${PUT_BACK}`);
    }));

  test('EBPF-8 all pins that were removed with their folder are made again', () =>
    withServed(async lab => {
      for (const name of lab.pins()) unlinkSync(`${lab.folder}/${name}`);
      await expectRepair(lab, `the pin of the link of connect4 was removed; ${PUT_BACK}`);
      assert.equal(lab.pins().length, 7);
    }));

  const FRONTEND = { family: 'IPv4', ip: '10.96.0.10' as Ip, port: 80 } as const;
  const TARGET = encodeTarget({ pool: 7, flags: 0, affinitySeconds: 0, counter: 0, identity: 0n });
  const changes: readonly [cause: string, map: MapName, change: (map: BpfMap) => void][] = [
    ['changed an entry of map frontends4', 'frontends4', map => map.update(frontendKey(FRONTEND), TARGET)],
    ['removed an entry of map frontends4', 'frontends4', map => map.remove(frontendKey(FRONTEND))],
    [
      'added an entry to map frontends4',
      'frontends4',
      map => map.update(frontendKey({ ...FRONTEND, port: 81 }), TARGET),
    ],
    ['changed map slots4', 'slots4', map => map.update(Buffer.alloc(4), encodeSlot({ ip: '10.9.9.9' as Ip, port: 1 }))],
    ['changed map pools', 'pools', map => map.update(Buffer.from([1, 0, 0, 0]), Buffer.alloc(8))],
    [
      'added an entry to map nodeAddresses4',
      'nodeAddresses4',
      map => map.update(nodeAddressKey('9.9.9.9' as Ip), Buffer.from([1, 0, 0, 0])),
    ],
    ['removed an entry of map members4', 'members4', map => map.removeBatch(map.entries().keys)],
  ];
  for (const [cause, name, change] of changes) {
    test(`EBPF-8 maps are written anew if another program ${cause}`, () =>
      withServed(async lab => {
        const map = lab.harness.mode.maps?.get(name) ?? assert.fail(`there is no map ${name}`);
        change(map);
        await expectRepair(lab, `another program ${cause}; wrote all maps again`, 'thorough');
      }));
  }
});
