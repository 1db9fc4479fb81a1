import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { answered, endpoint, frontend, nodePort, port, REFUSED } from '../fixture.ts';
import type { Rect } from './geometry.ts';
import { layoutPicture, MIN_WIDTH } from './layout.ts';
import { pictureOf } from './model.ts';

const TEXTS = Array.from({ length: 5 }, (_, i) => `10.244.1.${i}:80`);

function overlaps(a: Rect, b: Rect): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

function layout(width: number, endpoints = TEXTS) {
  const frontends = [
    frontend(answered(endpoints)),
    frontend(answered(endpoints), { kind: 'LoadBalancerIP', address: '203.0.113.1', sourceRanges: ['192.0.2.0/24'] }),
    nodePort(REFUSED),
  ];
  return layoutPicture(
    pictureOf(
      port(
        frontends,
        endpoints.map(text => endpoint(text)),
      ),
    ),
    width,
  );
}

describe('the layout of the picture', () => {
  for (const width of [MIN_WIDTH, 1100, 3000]) {
    test(`PAGE-60 nothing overlaps or leaves the picture at a width of ${width}`, () => {
      const placed = layout(
        width,
        Array.from({ length: 40 }, (_, i) => `10.244.2.${i}:80`),
      );
      const rects = [placed.callers, placed.frontends, placed.endpoints].flatMap(map => [...map.values()]);
      for (const [index, rect] of rects.entries()) {
        assert.ok(rect.x >= 0 && rect.x + rect.width <= placed.width, `width of ${index}`);
        assert.ok(rect.y >= 0 && rect.y + rect.height <= placed.height, `height of ${index}`);
        assert.ok(!rects.slice(index + 1).some(other => overlaps(rect, other)), `card ${index}`);
      }
    });
  }

  test('PAGE-60 callers, addresses and endpoints are columns from left to right', () => {
    const { columns } = layout(1100);
    assert.ok(columns.callers < columns.frontends && columns.frontends < columns.endpoints);
  });

  test('PAGE-60 the height does not depend on the width, so that nothing moves when a page gets narrower', () => {
    assert.equal(layout(MIN_WIDTH).height, layout(1280).height);
  });

  test('PAGE-61 lines lead from caller to address and from address to endpoint', () => {
    const placed = layout(1100);
    assert.equal(placed.ways.length, 9);
    assert.equal(placed.links.length, 10);
    const [way] = placed.ways;
    const caller = placed.callers.get('pod');
    assert.ok(way && caller);
    assert.ok(way.path.startsWith(`M${caller.x + caller.width} ${caller.y + caller.height / 2}C`));
    assert.ok(way.path.endsWith(`H${placed.columns.frontends}`));
    const heads = placed.ways.map(({ head }) => `${head.x} ${head.y}`);
    assert.equal(new Set(heads).size, heads.length, 'every way ends at a place of its own');
  });

  test('PAGE-63 an address without endpoints has its end between the columns, and source ranges have a line of their own', () => {
    const { ends, guards, columns } = layout(1100);
    assert.deepEqual(
      ends.map(({ to, end }) => [to, end.text]),
      [['30080', 'refused: no endpoints']],
    );
    assert.ok((ends[0]?.at.x ?? 0) > columns.frontends && (ends[0]?.at.x ?? 0) < columns.endpoints);
    assert.deepEqual(
      guards.map(({ to, ranges }) => [to, ranges]),
      [['203.0.113.1:80', ['192.0.2.0/24']]],
    );
  });
});
