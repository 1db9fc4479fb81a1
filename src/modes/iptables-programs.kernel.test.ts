import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakePrograms } from '../../test/support/fake-programs.ts';
import { rememberingLog } from '../../test/support/log.ts';
import { NetworkNamespace } from '../kernel/netns.ts';
import { iptablesFamilies } from './iptables-programs.ts';

async function familiesWith(scripts: Readonly<Record<string, string>>, only = false) {
  const programs = new FakePrograms(scripts);
  const namespace = NetworkNamespace.create();
  const { log, lines } = rememberingLog();
  try {
    return { families: await iptablesFamilies(log, { namespace, env: programs.env({ only }) }), lines };
  } finally {
    namespace.close();
    programs.close();
  }
}

test('IPT-11 both families are served if both programs work', async () => {
  assert.deepEqual(await familiesWith({}), { families: ['IPv4', 'IPv6'], lines: [] });
});

test('START-5 a family that the kernel does not support is left out, and the reason is logged', async () => {
  const ip6tables = 'echo "can\'t initialize ip6tables table nat: Table does not exist" >&2; exit 3';
  const { families, lines } = await familiesWith({ ip6tables });
  assert.deepEqual(families, ['IPv4']);
  assert.equal(lines.length, 1);
  assert.match(
    lines[0] ?? '',
    /^I No iptables support for family \{"err":"ip6tables .*exit status 3: can't initialize ip6tables table nat.*","ipFamily":"IPv6"\}$/,
  );
});

test('START-5 a machine without any iptables program cannot start the mode', async () => {
  await assert.rejects(familiesWith({}, true), {
    name: 'FatalError',
    message: /^iptables is not available on this host : iptables .*no such program.*, ip6tables .*no such program/,
  });
});
