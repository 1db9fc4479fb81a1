import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServingNode } from '../../test/support/serving-node.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { ANNOTATION_BALANCE } from '../api/index.ts';

const ENDPOINTS = ['10.244.1.1', '10.244.1.2', '10.244.1.3'];
const [FIRST = '', SECOND = ''] = ENDPOINTS;
const EACH = 8;

const spread = (counts: readonly number[]) => Math.max(...counts) - Math.min(...counts);

test('BALANCE-62 after one endpoint lost its connections, it gets most of the next real ones', () =>
  ServingNode.use(async node => {
    await node.serve(...ENDPOINTS);
    await node.balance({ [ANNOTATION_BALANCE]: 'least-connections' }, ENDPOINTS);
    for (let i = 0; i < EACH * ENDPOINTS.length; i++) await node.connect();
    assert.deepEqual(node.counts(ENDPOINTS), [EACH, EACH, EACH], 'turns are level');

    for (const connection of node.open) if (connection.endpoint === FIRST) await node.disconnect(connection);
    await waitFor('the share of the endpoint without connections', () => node.weights?.get(`${FIRST}:8080`) === 1);
    assert.equal(node.weights?.get(`${SECOND}:8080`), 0.1);
    await node.proxy.loop.settled();
    // 12 slots, 10 of them for the endpoint that lacks 8 connections.
    for (let i = 0; i < EACH; i++) await node.connect();
    const counts = node.counts(ENDPOINTS);
    assert.ok(spread(counts) <= 3, `${counts}`);
  }));
