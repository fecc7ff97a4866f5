export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Round values from 0 up to `most`, at most six. */
export function ticksTo(most: number): number[] {
  const power = 10 ** Math.floor(Math.log10(most / 5));
  const step = power * ([1, 2, 5].find((factor) => factor * power * 5 >= most) ?? 10);
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, k) => k * step);
}

/**
 * Leaves out points that cannot be seen: of those in one column of the plot it keeps the first, the lowest, the highest
 * and the last, in their order.
 *
 * @param points - By growing x.
 * @param column - Width of a column, in the unit of x.
 */
export function thinned(points: readonly Point[], column: number): Point[] {
  const kept: Point[] = [];
  let group: Point[] = [];
  const close = (): void => {
    const ys = group.map(({ y }) => y);
    const low = ys.indexOf(Math.min(...ys));
    const high = ys.indexOf(Math.max(...ys));
    const last = group.length - 1;
    kept.push(...group.filter((_, index) => [0, low, high, last].includes(index)));
    group = [];
  };
  for (const point of points) {
    const first = group[0];
    if (first !== undefined && Math.floor(point.x / column) !== Math.floor(first.x / column)) close();
    group.push(point);
  }
  close();
  return kept;
}
