import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FAMILIES } from '../../src/net/index.ts';
import { withLocalhostNode } from '../support/localhost-node.ts';
import { expectedAnswers } from './expected-answers.ts';
import { askAll, CONFIGURATIONS, type ConfigurationName, OBJECTS, PODS } from './situation.ts';

describe('node ports at loopback addresses, compared with upstream v1.37.0-rc.1', () => {
  for (const [name, { gate, nodePortAddresses }] of Object.entries(CONFIGURATIONS)) {
    test(`NFT-52 the same answers as upstream if ${name}`, () =>
      withLocalhostNode(async node => {
        for (const pod of PODS) await node.addPod(pod);
        for (const family of FAMILIES) {
          const mode = node.start(family, nodePortAddresses, { localhostNodePorts: gate });
          mode.set(...OBJECTS);
          await mode.sync();
          assert.deepEqual(mode.events.lines, []);
        }
        assert.deepEqual(await askAll(node.namespace), expectedAnswers(name as ConfigurationName));
      }));
  }
});
