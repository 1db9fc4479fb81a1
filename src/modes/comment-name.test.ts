import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { splitRule } from '../kernel/iptables/index.ts';
import type { ServicePortPlan } from '../plan/index.ts';
import { commentName } from './comment-name.ts';

const plan = (service: string, name: string) => ({ service, port: { name } }) as ServicePortPlan;

test('MODE-10 a name that an API server accepts stays as it is in comments', () => {
  assert.equal(commentName(plan('shop/web-1', 'http')), 'shop/web-1:http');
});

test('MODE-10 any name is one word of a comment, with quotes and without', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (service, port) => {
      const name = commentName(plan(`ns/${service}`, port));
      assert.deepEqual(splitRule(`--comment ${name} -j X`), ['--comment', name, '-j', 'X']);
      assert.deepEqual(splitRule(`--comment "${name} a" -j X`), ['--comment', `${name} a`, '-j', 'X']);
    }),
  );
});
