// The arrays behind the page, decoded when they are first asked for, and the algebra on them.
import { type Matrix, matrix, numbers, whole } from "./payload";
import { page } from "./store";

function once<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}

export const rowCount = page.rows?.scores.shape[0] ?? 0;
export const columnNames = page.columns?.names ?? [];

export const shares = once(() => (page.spectrum ? numbers(page.spectrum.shares) : new Float32Array(0)));

/** Shares added up; cumulative()[K] is what K components hold. */
export const cumulative = once(() => {
  const sums = [0];
  for (const share of shares()) sums.push(sums[sums.length - 1] + share);
  return sums;
});

export const scores = once(() => {
  const table = page.rows ? matrix(page.rows.scores) : { rows: 0, cols: 0, data: new Float32Array(0) };
  return Array.from({ length: table.cols }, (_, j) => {
    const column = new Float32Array(table.rows);
    for (let i = 0; i < table.rows; i++) column[i] = table.data[i * table.cols + j];
    return column;
  });
});

export const loadings = once(() => (page.columns ? matrix(page.columns.loadings) : null));
export const correlations = once(() => (page.columns?.correlations ? matrix(page.columns.correlations) : null));
export const mean = once(() => (page.columns ? numbers(page.columns.mean) : new Float32Array(0)));
export const gain = once(() => (page.columns ? numbers(page.columns.gain) : new Float32Array(0)));

const values = once(() => (page.rows?.values ? matrix(page.rows.values) : null));
const places = once(() => (page.rows?.places ? whole(page.rows.places) : null));

/** Row shown → row of the values table; −1 where the page holds no values of it. */
const held = once(() => {
  const found = new Int32Array(rowCount).fill(-1);
  if (page.rows?.held) whole(page.rows.held).forEach((row, at) => (found[row] = at));
  else if (values()) found.forEach((_, i) => (found[i] = i));
  return found;
});

export const hasValues = page.rows?.values != null;
export const valuesComplete = page.rows?.held == null;

/** A row's values as they came; null where the page does not hold them. */
export function valuesOf(i: number): Float32Array | null {
  const table = values();
  const at = held()[i];
  return table && at >= 0 ? table.data.subarray(at * table.cols, (at + 1) * table.cols) : null;
}

export function heldRows(): number[] {
  const found: number[] = [];
  held().forEach((at, i) => at >= 0 && found.push(i));
  return found;
}

export function rowName(i: number): string {
  const names = page.rows?.names;
  return names ? names[i].trim() || "(no name)" : `Row ${(places()?.[i] ?? i) + 1}`;
}

/** The same to stand alone, where a bare number would say little. */
export function rowTitle(i: number): string {
  const name = rowName(i);
  return /^\d{1,6}$/.test(name) ? `Row ${name}` : name;
}

/** Standard deviations of the columns: those of the fit, or of the values that are here. */
export const deviations = once(() => {
  if (page.columns?.deviations) return numbers(page.columns.deviations);
  const table = values();
  return table ? spread(table) : new Float32Array(columnNames.length).fill(1);
});

function spread(table: Matrix): Float32Array {
  const centre = mean();
  const found = new Float32Array(table.cols);
  for (let j = 0; j < table.cols; j++) {
    let sum = 0;
    let count = 0;
    for (let i = 0; i < table.rows; i++) {
      const d = table.data[i * table.cols + j] - centre[j];
      if (d === d) (sum += d * d), count++;
    }
    found[j] = Math.sqrt(sum / Math.max(1, count - 1));
  }
  return found;
}

/** A row as K components tell it: mean + Σ score · loading / gain. */
export function rebuilt(i: number, K: number): Float32Array {
  return fromScores((axis) => scores()[axis][i], K);
}

/** What sums of components begin with: the mean, or what the model has instead. */
const origin = once(() => (page.columns?.origin ? numbers(page.columns.origin) : mean()));

/** What turns a sum into an expected entry. */
const LINKS = {
  identity: (sum: number) => sum,
  logistic: (sum: number) => 1 / (1 + Math.exp(-sum)),
  exp: Math.exp,
};

export function fromScores(score: (axis: number) => number, K: number): Float32Array {
  const found = Float32Array.from(origin());
  const table = loadings();
  if (!table) return found;
  const g = gain();
  for (let axis = 0; axis < Math.min(K, table.rows); axis++) {
    const t = score(axis);
    for (let j = 0; j < table.cols; j++) {
      if (g[j] > 0) found[j] += (t * table.data[axis * table.cols + j]) / g[j];
    }
  }
  const link = page.columns?.link ?? "identity";
  return link === "identity" ? found : found.map(LINKS[link]);
}

/** Variances of the scores, as the rows shown have them. */
export const scoreDeviations = once(() =>
  scores().map((column) => {
    let sum = 0;
    for (let i = 0; i < column.length; i++) sum += column[i] * column[i];
    return Math.sqrt(sum / Math.max(1, column.length - 1));
  }),
);

export interface Difference {
  column: number;
  /** In standard deviations of the column. */
  effect: number;
  inside: number;
  outside: number;
}

/** How the means of some rows differ from those of the others, the largest difference first. */
export function setApart(mask: Uint8Array): Difference[] {
  const table = values();
  if (!table) return [];
  const p = table.cols;
  const sums = [new Float64Array(p), new Float64Array(p)];
  const counts = [new Float64Array(p), new Float64Array(p)];
  held().forEach((at, i) => {
    if (at < 0) return;
    const side = mask[i];
    for (let j = 0; j < p; j++) {
      const v = table.data[at * p + j];
      if (v === v) (sums[side][j] += v), counts[side][j]++;
    }
  });
  const sd = deviations();
  const found: Difference[] = [];
  for (let j = 0; j < p; j++) {
    const inside = sums[1][j] / counts[1][j];
    const outside = sums[0][j] / counts[0][j];
    const effect = sd[j] > 0 ? (inside - outside) / sd[j] : 0;
    if (Number.isFinite(effect)) found.push({ column: j, effect, inside, outside });
  }
  return found.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect));
}

export interface Deviation {
  column: number;
  value: number;
  /** From the mean, in standard deviations; NaN for a missing value. */
  by: number;
}

/** A row's values, those furthest from the mean first. */
export function deviationsOf(i: number): Deviation[] {
  const own = valuesOf(i);
  if (!own) return [];
  const centre = mean();
  const sd = deviations();
  const found = Array.from(own, (value, column) => ({
    column,
    value,
    by: sd[column] > 0 ? (value - centre[column]) / sd[column] : value === value ? 0 : NaN,
  }));
  const size = (one: Deviation) => (Number.isFinite(one.by) ? Math.abs(one.by) : -1);
  return found.sort((a, b) => size(b) - size(a));
}
