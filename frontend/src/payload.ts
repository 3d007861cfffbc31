// What Python wrote into the page: types of its parts (see views/report/payload.py), and the decoding of arrays.

export interface Blob {
  type: "f4" | "u1" | "u2" | "u4";
  shape: number[];
  data: string;
  lo?: number[];
  hi?: number[];
}

export interface Rule {
  title: string;
  k: number | null;
  sound: boolean;
  why: string;
}

export interface ColourPart {
  name: string;
  kind: "number" | "group";
  numbers?: Blob;
  codes?: Blob;
  levels?: string[];
}

export interface Section {
  kind: string;
  title: string;
  data: Record<string, unknown>;
  first: boolean;
}

export interface Payload {
  format: number;
  title: string;
  model: string;
  lead: string;
  axes: string[];
  facts: { label: string; value: string; note: string }[];
  warnings: string[];
  proof: { word: string; good: boolean; sentence: string; meaning: string };
  made: { python: string; cli: string; facts: [string, string][] };
  spectrum: { shares: Blob; what: string; rules: Rule[]; advised: number | null; verdict: string } | null;
  rows: {
    total: number;
    scores: Blob;
    names: string[] | null;
    places: Blob | null;
    values: Blob | null;
    held: Blob | null;
    colours: ColourPart[];
    limits: { t2: Blob; q: Blob; t2Limit: number | null; qLimit: number | null; level: number } | null;
    noLimits: string;
  } | null;
  columns: {
    names: string[];
    loadings: Blob;
    mean: Blob;
    gain: Blob;
    deviations: Blob | null;
    correlations: Blob | null;
    entry: string;
    signed: boolean;
    origin: Blob | null;
    link: "identity" | "logistic" | "exp";
  } | null;
  picture: number[] | null;
  sections: Section[];
}

/** A table of numbers, row by row; NaN where there is none. */
export interface Matrix {
  rows: number;
  cols: number;
  data: Float32Array;
}

const MISSING = 65535;

function bytes(base64: string): ArrayBuffer {
  const text = atob(base64);
  const found = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) found[i] = text.charCodeAt(i);
  return found.buffer;
}

/** The numbers of a blob, whatever its type. */
export function numbers(blob: Blob): Float32Array {
  const buffer = bytes(blob.data);
  if (blob.type === "f4") return new Float32Array(buffer);
  if (blob.type === "u1") return Float32Array.from(new Uint8Array(buffer));
  if (blob.type === "u4") return Float32Array.from(new Uint32Array(buffer));
  const codes = new Uint16Array(buffer);
  const lo = blob.lo ?? [];
  const hi = blob.hi ?? [];
  const cols = lo.length;
  const found = new Float32Array(codes.length);
  for (let i = 0, j = 0; i < codes.length; i++) {
    const share = codes[i] / (MISSING - 1);
    found[i] = codes[i] === MISSING ? NaN : lo[j] * (1 - share) + hi[j] * share;
    if (++j === cols) j = 0;
  }
  return found;
}

/** Whole numbers, such as places of rows or codes of groups. */
export function whole(blob: Blob): Uint32Array {
  const buffer = bytes(blob.data);
  return blob.type === "u4" ? new Uint32Array(buffer) : Uint32Array.from(new Uint8Array(buffer));
}

/** A blob of two dimensions; one dimension becomes a single row. */
export function matrix(blob: Blob): Matrix {
  const [rows, cols] = blob.shape.length === 1 ? [1, blob.shape[0]] : blob.shape;
  return { rows, cols, data: numbers(blob) };
}

/** The payload of this page. */
export function readPayload(): Payload {
  const holder = document.getElementById("data");
  return JSON.parse(holder?.textContent ?? "null") as Payload;
}
