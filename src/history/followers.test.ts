import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Followed } from './followers.ts';
import { History } from './history.ts';

const words = (followed: Followed) => ('missed' in followed ? `missed ${followed.missed}` : followed.change);

test('HISTORY-12 a follower receives every entry from the moment that it begins, until the signal', async () => {
  const history = new History();
  history.started('before');
  const end = new AbortController();
  const seen: string[] = [];
  const following = (async () => {
    for await (const followed of history.follow(end.signal)) {
      seen.push(words(followed));
      if (seen.length === 1) history.configured('second');
      if (seen.length === 2) end.abort();
    }
  })();
  history.configured('first');
  await following;
  assert.deepEqual(seen, ['first', 'second']);
});

test('HISTORY-12 a follower that leaves its loop is forgotten, and one with an ended signal receives nothing', async () => {
  const history = new History();
  const follower = history.follow(new AbortController().signal);
  history.configured('first');
  for await (const followed of follower) {
    assert.equal(words(followed), 'first');
    break;
  }
  for await (const followed of history.follow(AbortSignal.abort())) assert.fail(words(followed));
});

test('HISTORY-12 a slow follower misses entries, and learns how many', async () => {
  const history = new History();
  const end = new AbortController();
  const follower = history.follow(end.signal);
  for (let i = 0; i < 5000; i++) history.configured(`${i}`);
  end.abort();
  const seen: string[] = [];
  for await (const followed of follower) seen.push(words(followed));
  assert.equal(seen.length, 1025);
  assert.deepEqual(seen.slice(-2), ['1023', `missed ${5000 - 1024}`]);
});
