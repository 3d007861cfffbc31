// Linear scales and round ticks.

export interface Scale {
  (value: number): number;
  invert(pixel: number): number;
  domain: [number, number];
}

export function linear(domain: [number, number], range: [number, number]): Scale {
  const [a, b] = domain;
  const [from, to] = range;
  const width = b - a || 1;
  const scale = ((value: number) => from + ((value - a) / width) * (to - from)) as Scale;
  scale.invert = (pixel: number) => a + ((pixel - from) / (to - from || 1)) * width;
  scale.domain = domain;
  return scale;
}

/** About `about` round numbers inside a domain. */
export function ticks([a, b]: [number, number], about = 5): number[] {
  if (!(b > a)) return [a];
  const raw = (b - a) / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) ?? 10 * power;
  const found: number[] = [];
  for (let i = Math.ceil(a / step - 1e-9); i * step <= b + step * 1e-9; i++) found.push(i === 0 ? 0 : i * step);
  return found;
}

/** Least and largest finite number; [0, 1] if there are none. */
export function extent(values: ArrayLike<number>): [number, number] {
  let lo = Infinity;
  let hi = -Infinity;
  for (let i = 0; i < values.length; i++) {
    const v = values[i];
    if (v < lo && Number.isFinite(v)) lo = v;
    if (v > hi && Number.isFinite(v)) hi = v;
  }
  return lo <= hi ? [lo, hi] : [0, 1];
}

/** A domain with some air at both ends. */
export function padded([a, b]: [number, number], share = 0.05): [number, number] {
  const air = (b - a) * share || Math.abs(a) * 0.1 || 1;
  return [a - air, b + air];
}
