import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakePrograms } from '../../test/support/fake-programs.ts';
import { NetworkNamespace } from '../kernel/netns.ts';
import { iptablesSupport } from './iptables-programs.ts';

async function supportWith(scripts: Readonly<Record<string, string>>, only = false) {
  const programs = new FakePrograms(scripts);
  const namespace = NetworkNamespace.create();
  try {
    const { families, unavailable } = await iptablesSupport({ namespace, env: programs.env({ only }) });
    return { families, reasons: Object.values(unavailable).map(({ message }) => message) };
  } finally {
    namespace.close();
    programs.close();
  }
}

test('IPT-11 both families are supported if both programs work', async () => {
  assert.deepEqual(await supportWith({}), { families: ['IPv4', 'IPv6'], reasons: [] });
});

test('IPT-11 a family that the kernel does not know is not supported, and the reason is returned', async () => {
  const ip6tables = 'echo "can\'t initialize ip6tables table nat: Table does not exist" >&2; exit 3';
  const { families, reasons } = await supportWith({ ip6tables });
  assert.deepEqual(families, ['IPv4']);
  assert.match(reasons.join(), /^ip6tables .*exit status 3: can't initialize ip6tables table nat/);
});

test('IPT-11 no family is supported without the programs', async () => {
  const { families, reasons } = await supportWith({}, true);
  assert.deepEqual(families, []);
  assert.equal(reasons.filter(reason => reason.includes('there is no such program')).length, 2);
});
