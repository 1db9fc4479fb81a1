import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { planOf } from '../../test/support/plans.ts';
import type { ServicePortPlan } from '../plan/index.ts';
import { PlanBook } from './plan-book.ts';
import { type SetAside, setAsideName } from './set-aside.ts';

const CAUSE = { code: 'KERNEL_REFUSED', errno: 'EINVAL', message: 'EINVAL: no' } as const;
const WEB = 'default/web/TCP';

function open() {
  const reports: SetAside[] = [];
  const book = new PlanBook('IPv4', port => reports.push(port));
  const add = (...plans: ServicePortPlan[]) => book.take({ added: plans, updated: [], removed: [] });
  const update = (from: ServicePortPlan, to: ServicePortPlan) =>
    book.take({ added: [], updated: [{ from, to }], removed: [] });
  const remove = (...plans: ServicePortPlan[]) => book.take({ added: [], updated: [], removed: plans });
  /** Writes as a writer does if the kernel refuses nothing. */
  const write = () => {
    book.commit(book.changes());
    book.finishWrite();
  };
  return { book, reports, add, update, remove, write };
}

describe('MODE-3 plan book', () => {
  test('the book returns the changes between the committed plans and the wanted ones', () => {
    const { book, add, update, remove, write } = open();
    const [first, second] = [planOf('web', ['10.244.0.1']), planOf('web', ['10.244.0.2'])];
    add(first);
    assert.deepEqual(book.changes(), [{ id: WEB, from: undefined, to: first }]);
    write();
    assert.deepEqual(book.changes(), []);
    update(first, second);
    assert.deepEqual(book.changes(), [{ id: WEB, from: first, to: second }]);
    write();
    remove(second);
    assert.deepEqual(book.changes(), [{ id: WEB, from: second, to: undefined }]);
    write();
    assert.deepEqual([book.wantedPlans().size, book.committedPlans().size], [0, 0]);
  });

  test('the book commits all changes at once, except those of refused plans', () => {
    const { book, add, update, remove } = open();
    const [first, second, other] = [planOf('web', ['10.244.0.1']), planOf('web', ['10.244.0.2']), planOf('other', [])];
    add(first, other);
    book.commitChanged();
    assert.deepEqual([...book.committedPlans().values()], [first, other]);
    update(first, second);
    remove(other);
    book.refuse(WEB, CAUSE);
    book.commitChanged();
    assert.deepEqual([...book.committedPlans().values()], [first]);
    assert.deepEqual([book.wantedIds(), book.changes()], [[WEB], []]);
  });

  test('the book returns the same changes at every call', () => {
    const { book, add } = open();
    add(planOf('web', []));
    assert.deepEqual(book.changes(), book.changes());
    assert.deepEqual(book.allChanges(), book.changes());
    assert.deepEqual(book.changedIds(), [WEB]);
  });

  test('the book returns no change for a plan that is added and removed again', () => {
    const { book, add, remove } = open();
    const plan = planOf('web', []);
    add(plan);
    remove(plan);
    assert.deepEqual(book.changes(), []);
  });

  test('the book leaves a refused plan out until it changes, and reports it once', () => {
    const { book, reports, add, update } = open();
    const [bad, good] = [planOf('web', ['10.244.0.1']), planOf('web', ['10.244.0.2'])];
    add(bad, planOf('other', []));
    assert.equal(book.refuse(WEB, CAUSE), undefined);
    assert.deepEqual(
      book.changes().map(({ id }) => id),
      ['default/other/TCP'],
    );
    assert.deepEqual(book.setAside().map(setAsideName), ['default/web']);
    assert.deepEqual(reports, [
      { family: 'IPv4', namespace: 'default', name: 'web', port: '', protocol: 'TCP', cause: CAUSE },
    ]);
    update(bad, good);
    assert.deepEqual(book.setAside(), []);
    assert.deepEqual(
      book.changes().map(({ to }) => to),
      [book.wantedPlan('default/other/TCP'), good].toReversed(),
    );
  });

  test('the book keeps the committed version of a plan whose new version is refused', () => {
    const { book, add, update, write } = open();
    const [good, bad] = [planOf('web', ['10.244.0.1']), planOf('web', ['10.244.0.2'])];
    add(good);
    write();
    update(good, bad);
    book.refuse(WEB, CAUSE);
    assert.equal(book.target(WEB), good);
    assert.deepEqual(book.changes(), []);
  });

  test('a full write uses the last good version of a refused plan, or no version if that is refused too', () => {
    const { book, add, update, write } = open();
    const [good, bad] = [planOf('web', ['10.244.0.1']), planOf('web', ['10.244.0.2'])];
    add(good);
    write();
    update(good, bad);
    book.forgetCommitted();
    assert.deepEqual(book.allChanges(), [{ id: WEB, from: undefined, to: bad }]);
    assert.deepEqual(book.refuse(WEB, CAUSE), { id: WEB, from: undefined, to: good });
    assert.deepEqual(book.allChanges(), [{ id: WEB, from: undefined, to: good }]);
    assert.equal(book.refuse(WEB, CAUSE), undefined);
    assert.deepEqual(book.allChanges(), []);
  });

  test('a plan that is refused although it was committed has no version to fall back on', () => {
    const { book, add, write } = open();
    add(planOf('web', ['10.244.0.1']));
    write();
    book.forgetCommitted();
    assert.equal(book.refuse(WEB, CAUSE), undefined);
    assert.equal(book.target(WEB), undefined);
    assert.deepEqual(book.allChanges(), []);
  });

  test('the book returns a postponed plan for every write, and reports it again only with another cause', () => {
    const { book, reports, add, update } = open();
    const [first, second] = [planOf('web', ['10.244.0.1']), planOf('web', ['10.244.0.2'])];
    add(first);
    book.postpone(WEB, CAUSE);
    assert.equal(book.isRefused(WEB), false);
    assert.deepEqual(book.changes(), [{ id: WEB, from: undefined, to: first }]);
    update(first, second);
    book.postpone(WEB, CAUSE);
    assert.equal(reports.length, 1);
    book.postpone(WEB, { ...CAUSE, message: 'something else' });
    assert.equal(reports.length, 2);
    book.clear(WEB);
    assert.deepEqual(book.setAside(), []);
  });

  test('the book returns refused plans again after the caller asks for a retry', () => {
    const { book, add } = open();
    add(planOf('web', []));
    book.refuse(WEB, CAUSE);
    book.retryRefused();
    assert.equal(book.changes().length, 1);
    assert.deepEqual(book.setAsideIds(), [WEB]);
  });

  test('the book forgets a refused plan that is removed', () => {
    const { book, add, remove } = open();
    const plan = planOf('web', []);
    add(plan);
    book.refuse(WEB, CAUSE);
    remove(plan);
    assert.deepEqual(book.setAside(), []);
    assert.equal(book.refuse(WEB, CAUSE), undefined, 'the plan is no longer wanted');
  });

  test('the book forgets a postponed plan that is removed', () => {
    const { book, add, remove } = open();
    const web = planOf('web', []);
    add(web);
    book.postpone(WEB, CAUSE);
    remove(web);
    assert.deepEqual(book.setAside(), []);
  });

  test('the book wants a plan that one diff both removes and adds', () => {
    const { book } = open();
    const web = planOf('web', []);
    book.take({ added: [web], updated: [], removed: [web] });
    assert.equal(book.wantedPlan(WEB), web);
  });

  test('no service port has changed after a write', () => {
    const { book, add, write } = open();
    add(planOf('web', []));
    assert.deepEqual(book.changedIds(), [WEB]);
    write();
    assert.deepEqual(book.changedIds(), []);
  });

  test('after a full write there is no version to fall back on of a plan that was removed', () => {
    const { book, add, remove, write } = open();
    const web = planOf('web', ['10.244.0.1']);
    add(web);
    write();
    book.forgetCommitted();
    remove(web);
    write();
    book.finishFullWrite();
    add(planOf('web', ['10.244.0.2']));
    assert.equal(book.refuse(WEB, CAUSE), undefined);
    assert.equal(book.target(WEB), undefined);
  });
});
