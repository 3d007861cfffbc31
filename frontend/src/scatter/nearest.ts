// Which points are meant: the nearest one, or those inside a lasso. Distances are in pixels.
import type { Scale } from "../charts/scale";

/** The row nearest to a pixel, within `reach`; −1 if none is. */
export function nearest(x: Float32Array, y: Float32Array, sx: Scale, sy: Scale, px: number, py: number, reach = 14): number {
  const [x0, y0] = [sx(0), sy(0)];
  const [ax, ay] = [sx(1) - x0, sy(1) - y0];
  let best = reach * reach;
  let found = -1;
  for (let i = 0; i < x.length; i++) {
    const dx = x[i] * ax + x0 - px;
    if (dx > reach || dx < -reach) continue;
    const dy = y[i] * ay + y0 - py;
    const d = dx * dx + dy * dy;
    if (d < best) (best = d), (found = i);
  }
  return found;
}

/** Marks of the rows inside a polygon of pixels (even–odd rule). */
export function inside(x: Float32Array, y: Float32Array, sx: Scale, sy: Scale, polygon: [number, number][]): Uint8Array {
  const mask = new Uint8Array(x.length);
  const corners = polygon.map(([px, py]) => [sx.invert(px), sy.invert(py)]);
  for (let i = 0; i < x.length; i++) {
    let odd = false;
    for (let a = 0, b = corners.length - 1; a < corners.length; b = a++) {
      const [xa, ya] = corners[a];
      const [xb, yb] = corners[b];
      if (ya > y[i] !== yb > y[i] && x[i] < ((xb - xa) * (y[i] - ya)) / (yb - ya) + xa) odd = !odd;
    }
    mask[i] = odd ? 1 : 0;
  }
  return mask;
}
