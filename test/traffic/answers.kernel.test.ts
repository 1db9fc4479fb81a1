import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { NetworkNamespace } from '../../src/kernel/netns.ts';
import type { Ip } from '../../src/net/index.ts';
import { service } from '../support/objects.ts';
import { describeAnswers } from './answers.ts';

describe('the description of answers', () => {
  let namespace: NetworkNamespace;
  before(() => {
    namespace = NetworkNamespace.create();
  });
  after(() => namespace.close());

  function words(
    answers: readonly string[],
    failures: readonly string[] = [],
    { sessionAffinity = 'None', isEndpoint = false } = {},
  ): string {
    const source = { name: 'pod', namespace, isEndpoint };
    const question = { text: '', service: service('web', { sessionAffinity }), source, port: 80 };
    return describeAnswers(
      { ...question, ip: '10.96.0.1' as Ip, protocol: 'TCP' },
      { answers: new Map(answers.map(answer => [answer, 1])), failures: new Set(failures) },
    );
  }

  test('PLAY-2 endpoints are listed once and in order, and callers by name', () => {
    const answers = ['10.244.2.3 8080 192.168.0.2', '10.244.1.2 8080 10.244.1.1', '10.244.1.2 8080 10.244.1.7'];
    assert.equal(words(answers), '10.244.1.2:8080 10.244.2.3:8080 as 10.244.1.7,node');
    assert.equal(words(['fd00:10:244:1::2 80 fd00:10:244:1::200']), '[fd00:10:244:1::2]:80 as pod');
  });

  test('PLAY-2 failures are listed, alone or beside answers', () => {
    assert.equal(words([], ['timeout', 'refused']), 'refused,timeout');
    assert.equal(words([], ['EPERM']), 'errno 1');
    assert.equal(words(['10.244.1.2 80 192.168.0.100'], ['timeout']), '10.244.1.2:80 as ext (+timeout)');
  });

  test('PLAY-2 with affinity only one endpoint may answer, but any of them', () => {
    const affinity = { sessionAffinity: 'ClientIP' };
    const one = ['10.244.1.2 80 192.168.0.3'];
    assert.equal(words(one, [], affinity), 'always the same endpoint as other-node');
    assert.equal(words(one, [], { ...affinity, isEndpoint: true }), 'always the same endpoint');
    const two = [...one, '10.244.2.3 80 192.168.0.3'];
    assert.equal(words(two, [], affinity), 'DIFFERENT ENDPOINTS 10.244.1.2:80 10.244.2.3:80 as other-node');
    assert.equal(words([], ['refused'], affinity), 'refused');
  });
});
