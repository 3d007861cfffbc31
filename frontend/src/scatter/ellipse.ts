// Ellipses of groups, as src/lowdim/views/plots/scores.py has them: where two thirds of a normal cloud would lie.
const LEVEL = 0.68;
const RADIUS = Math.sqrt(-2 * Math.log(1 - LEVEL)); // the root of the quantile of χ² with two degrees of freedom

export interface Ellipse {
  level: number;
  /** Points on it, in the data's units. */
  outline: [number, number][];
}

export function ellipses(x: Float32Array, y: Float32Array, codes: Uint16Array, levels: number): Ellipse[] {
  const found: Ellipse[] = [];
  for (let level = 0; level < levels; level++) {
    const outline = one(x, y, codes, level);
    if (outline) found.push({ level, outline });
  }
  return found;
}

function one(x: Float32Array, y: Float32Array, codes: Uint16Array, level: number): [number, number][] | null {
  let [n, mx, my] = [0, 0, 0];
  for (let i = 0; i < x.length; i++) if (codes[i] === level) (n++), (mx += x[i]), (my += y[i]);
  if (n < 3) return null;
  (mx /= n), (my /= n);
  let [sxx, sxy, syy] = [0, 0, 0];
  for (let i = 0; i < x.length; i++) {
    if (codes[i] !== level) continue;
    const [dx, dy] = [x[i] - mx, y[i] - my];
    (sxx += dx * dx), (sxy += dx * dy), (syy += dy * dy);
  }
  (sxx /= n - 1), (sxy /= n - 1), (syy /= n - 1);
  // points on a line have no ellipse: one eigenvalue of the covariance is nothing beside the other
  const half = (sxx + syy) / 2;
  const root = Math.hypot((sxx - syy) / 2, sxy);
  if (half - root <= 1e-12 * (half + root)) return null;
  // the Cholesky factor turns a circle into the ellipse
  const a = Math.sqrt(sxx);
  const b = a > 0 ? sxy / a : 0;
  const c = Math.sqrt(Math.max(syy - b * b, 0));
  return Array.from({ length: 73 }, (_, i) => {
    const t = (i / 72) * 2 * Math.PI;
    return [mx + RADIUS * a * Math.cos(t), my + RADIUS * (b * Math.cos(t) + c * Math.sin(t))];
  });
}
