import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { EbpfLab } from '../../../../test/support/ebpf-mode.ts';
import { service, slice } from '../../../../test/support/objects.ts';
import { BpfLink, BpfMap, BpfProgram, PinFolder } from '../../../kernel/bpf/index.ts';
import { KernelError } from '../../../kernel/errors.ts';
import { mapSpec } from '../programs/index.ts';

const LEFT_ALONE = 'ENETUNREACH';
const [FORMER, NEXT] = ['10.244.1.2', '10.244.1.3'];

/** Makes one call of a method fail, as the kernel would without memory. */
function failCall(owner: object, method: string, failing: number): () => void {
  const real: unknown = Reflect.get(owner, method);
  let calls = 0;
  const replacement = function (this: unknown, ...values: unknown[]) {
    if (calls++ === failing) throw new KernelError('KERNEL_REFUSED', { operation: method, errno: 'ENOMEM' });
    assert.ok(typeof real === 'function');
    return Reflect.apply(real, this, values);
  };
  Reflect.set(owner, method, replacement);
  return () => {
    Reflect.set(owner, method, real);
    assert.ok(calls > failing, `there was no such call of ${method}`);
  };
}

const descriptors = () => readdirSync('/proc/self/fd').length;

/** Each makes a new generation fail at another place. The third update of a link is that of connect4. */
const CALLS: readonly (readonly [string, object, string, number])[] = [
  ['a map is not made', BpfMap, 'create', 3],
  ['an entry is not written', BpfMap.prototype, 'update', 0],
  ['the memory of a map is not mapped', BpfMap.prototype, 'mapped', 2],
  ['a program is not loaded', BpfProgram, 'load', 2],
  ['the program of a link is not replaced', BpfLink.prototype, 'update', 2],
  ['a map is not pinned', PinFolder.prototype, 'pin', 0],
];

/** Each makes the move to new slots fail at another place. */
const SLOT_CALLS: typeof CALLS = [
  ['a map is not made', BpfMap, 'create', 2],
  ['the memory of a map is not mapped', BpfMap.prototype, 'mapped', 2],
  ['a program is not loaded', BpfProgram, 'load', 2],
  ['the program of a link is not replaced', BpfLink.prototype, 'update', 2],
];

describe('EBPF-43 a call that the kernel refuses', () => {
  for (const [title, owner, method, failing] of CALLS) {
    test(`EBPF-43 ${title}: no socket is led to a former endpoint, and nothing is left open`, () =>
      EbpfLab.with(async lab => {
        lab.harness.set(service('web', { clusterIP: '10.96.0.10' }), slice('web-1', [FORMER]));
        await lab.harness.sync();
        const before = descriptors();
        // Affinity needs another generation, with four more maps.
        lab.harness.set(service('sticky', { clusterIP: '10.96.0.20', sessionAffinity: 'ClientIP' }));
        lab.harness.set(slice('web-1', [NEXT]));
        const end = failCall(owner, method, failing);
        await lab.harness.sync({}, ['IPv4']);
        end();
        assert.ok([NEXT, LEFT_ALONE].includes(lab.ask('10.96.0.10')));
        await lab.harness.sync();
        assert.equal(lab.ask('10.96.0.10'), NEXT);
        assert.equal(descriptors(), before + 4);
      }));
  }

  for (const [title, owner, method, failing] of SLOT_CALLS) {
    test(`EBPF-43 ${title} when slots are used up: no socket is led to a former endpoint`, () =>
      EbpfLab.with(async lab => {
        const many = Array.from({ length: 1000 }, (_, i) => `10.245.${i >> 8}.${i & 255}`);
        lab.harness.set(service('web', { clusterIP: '10.96.0.10' }), slice('web-1', [FORMER]));
        lab.harness.set(service('many', { clusterIP: '10.96.0.20' }), slice('many-1', many));
        await lab.harness.sync();
        const [before, maps] = [descriptors(), lab.harness.mode.maps];
        for (let i = 1; i < 8; i++) {
          lab.harness.set(slice('many-1', many.slice(i)));
          await lab.harness.sync();
        }
        assert.equal(lab.harness.mode.maps, maps);
        lab.harness.set(slice('web-1', [NEXT]), slice('many-1', many.slice(8)));
        const end = failCall(owner, method, failing);
        await lab.harness.sync({}, ['IPv4']);
        end();
        assert.ok([NEXT, LEFT_ALONE].includes(lab.ask('10.96.0.10')));
        await lab.harness.sync();
        assert.equal(lab.ask('10.96.0.10'), NEXT);
        assert.equal(descriptors(), before);
      }));
  }

  test('EBPF-36 a pinned map of another type is replaced, also if its sizes are the same', () =>
    EbpfLab.with(async lab => {
      const { name, keyBytes, valueBytes, entries } = mapSpec('affinity4', 65_536);
      const other = BpfMap.create({ name, type: 'hash', keyBytes, valueBytes, entries });
      new PinFolder(lab.folder).pin(name, other.fd);
      other.close();
      lab.harness.set(service('web', { clusterIP: '10.96.0.10', sessionAffinity: 'ClientIP' }));
      lab.harness.set(slice('web-1', [NEXT]));
      await lab.harness.sync();
      assert.equal(lab.ask('10.96.0.10'), NEXT);
      assert.equal(lab.lines.length, 1);
      assert.match(lab.lines[0] ?? '', /^notice: the pinned map affinity4 has another shape/);
    }));
});
