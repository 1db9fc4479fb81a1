// Rectangles and lines in pixels.

export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** For `element.style`. */
export function rectStyle(rect: Rect | undefined) {
  return rect && { left: px(rect.x), top: px(rect.y), width: px(rect.width), height: px(rect.height) };
}

export function px(value: number): string {
  return `${value}px`;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A bend, and then a straight line of this length. */
export function curve(from: Point, to: Point, straight: number): string {
  const end = to.x - straight;
  const middle = (from.x + end) / 2;
  const round = (value: number) => Math.round(value * 10) / 10;
  const points = [middle, from.y, middle, to.y, end, to.y].map(round).join(' ');
  return `M${round(from.x)} ${round(from.y)}C${points}H${round(to.x)}`;
}
