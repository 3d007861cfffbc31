// The part of the plane that is shown: pan, zoom, and back to all of it.
import { extent, padded } from "../charts/scale";

export interface View {
  x: [number, number];
  y: [number, number];
}

/** All points with some air; with `equal`, one unit is as long on both axes of a plot so wide and high. */
export function whole(x: Float32Array, y: Float32Array, equal: boolean, aspect: number): View {
  const view = { x: padded(extent(x), 0.08), y: padded(extent(y), 0.08) };
  if (!equal) return view;
  const [w, h] = [view.x[1] - view.x[0], view.y[1] - view.y[0]];
  return w / h > aspect ? { x: view.x, y: widened(view.y, w / aspect) } : { x: widened(view.x, h * aspect), y: view.y };
}

function widened([a, b]: [number, number], width: number): [number, number] {
  const middle = (a + b) / 2;
  return [middle - width / 2, middle + width / 2];
}

/** Closer by `factor`, with the point (x, y) staying where it is. */
export function zoomed(view: View, factor: number, x: number, y: number): View {
  const side = ([a, b]: [number, number], at: number): [number, number] => [at - (at - a) / factor, at + (b - at) / factor];
  return { x: side(view.x, x), y: side(view.y, y) };
}

export function moved(view: View, dx: number, dy: number): View {
  return { x: [view.x[0] + dx, view.x[1] + dx], y: [view.y[0] + dy, view.y[1] + dy] };
}

/** Whether two ranges of numbers are alike enough to be drawn in the same unit without wasting the plot. */
export function alike(x: Float32Array, y: Float32Array): boolean {
  const [a, b] = [extent(x), extent(y)];
  const ratio = (a[1] - a[0]) / (b[1] - b[0] || 1);
  return ratio > 1 / 4 && ratio < 4;
}
