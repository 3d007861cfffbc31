// Colours of rows: Okabe & Ito's for groups, viridis for numbers; both can be told apart by colour-blind readers.
import { page, theme } from "../store";
import { numbers, whole } from "../payload";
import { extent } from "../charts/scale";

export const GROUPS = ["#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9", "#f0e442"];
export const OTHER = { light: "#8a8f98", dark: "#8a8f98" };
export const PLAIN = { light: "#0b62a8", dark: "#6cb2f0" };
const VIRIDIS = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];

export interface Colouring {
  name: string;
  kind: "none" | "group" | "number";
  /** (n,) place of each row's colour in the palette. */
  codes: Uint16Array;
  palette: string[];
  levels: string[];
  /** Rows of each level; of the level after the last those that have none. */
  counts: number[];
  range: [number, number];
}

export function rgb(hex: string): [number, number, number] {
  const n = parseInt(hex.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

/** A colour of the ramp; ends that would vanish on the background are left out. */
export function ramp(share: number, dark: boolean): string {
  const at = (dark ? 0.18 + 0.82 * share : 0.94 * share) * (VIRIDIS.length - 1);
  const i = Math.max(0, Math.min(VIRIDIS.length - 2, Math.floor(at)));
  const [a, b] = [rgb(VIRIDIS[i]), rgb(VIRIDIS[i + 1])];
  const mixed = a.map((v, c) => Math.round(v + (b[c] - v) * (at - i)));
  return `#${mixed.map((v) => v.toString(16).padStart(2, "0")).join("")}`;
}

const STEPS = 128;

export function colouring(which: number): Colouring {
  const dark = theme.value === "dark";
  const n = page.rows?.scores.shape[0] ?? 0;
  const part = page.rows?.colours[which];
  const other = OTHER[theme.value];
  if (!part) {
    const palette = [PLAIN[theme.value]];
    return { name: "", kind: "none", codes: new Uint16Array(n), palette, levels: [], counts: [], range: [0, 1] };
  }
  if (part.kind === "group") {
    const levels = part.levels ?? [];
    const codes = Uint16Array.from(whole(part.codes!));
    const counts = new Array<number>(levels.length + 1).fill(0);
    for (const code of codes) counts[code]++;
    const palette = [...levels.map((_, i) => GROUPS[i] ?? other), other];
    return { name: part.name, kind: "group", codes, palette, levels, counts, range: [0, 1] };
  }
  const given = numbers(part.numbers!);
  const [lo, hi] = extent(given);
  const codes = Uint16Array.from(given, (v) => (Number.isFinite(v) ? Math.round(((v - lo) / (hi - lo || 1)) * (STEPS - 1)) : STEPS));
  const palette = [...Array.from({ length: STEPS }, (_, i) => ramp(i / (STEPS - 1), dark)), other];
  return { name: part.name, kind: "number", codes, palette, levels: [], counts: [], range: [lo, hi] };
}
