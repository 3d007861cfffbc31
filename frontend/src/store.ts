// What the page shows and what the reader has chosen: one place, from which every panel draws.
import { computed, signal } from "@preact/signals";
import { readPayload } from "./payload";

export const page = readPayload();

/** How many components are looked at: shares, loadings and reconstructions follow it. */
export const mostK = page.axes.length;
export const k = signal(mostK);

export function setK(value: number) {
  if (mostK > 0) k.value = Math.max(1, Math.min(mostK, Math.round(value)));
}

/** Axes of the map, from 0. */
export const axisX = signal(0);
export const axisY = signal(Math.min(1, mostK - 1));

/** Which column colours the rows; −1: none. */
export const colouredBy = signal(page.rows && page.rows.colours.length > 0 ? 0 : -1);

/** The row that cards, contributions and reconstructions are about, from 0 among those shown. */
export const row = signal<number | null>(null);

/** Rows chosen together: a mark for each, and what they are in words; null: none are. */
export interface Selection {
  mask: Uint8Array;
  count: number;
  words: string;
}
export const selection = signal<Selection | null>(null);

export function select(mask: Uint8Array, words: string) {
  let count = 0;
  for (let i = 0; i < mask.length; i++) count += mask[i];
  selection.value = count > 0 ? { mask, count, words } : null;
  said.value = count > 0 ? `${count} rows selected: ${words}` : "No row is there; nothing is selected";
}

/** What a reader of the page aloud is told when something changes. */
export const said = signal("");

const dark = matchMedia("(prefers-color-scheme: dark)");
const wished = signal<"light" | "dark" | null>(null);
const system = signal<"light" | "dark">(dark.matches ? "dark" : "light");
dark.addEventListener("change", () => (system.value = dark.matches ? "dark" : "light"));
const printing = signal(false);
addEventListener("beforeprint", () => (printing.value = true));
addEventListener("afterprint", () => (printing.value = false));

/** Paper is light whatever the screen is. */
export const theme = computed(() => (printing.value ? "light" : (wished.value ?? system.value)));
export const onPaper = computed(() => printing.value);

export function turnTheme() {
  wished.value = theme.value === "dark" ? "light" : "dark";
}
