// Points as pixels. A hundred thousand of them are blended into an ImageData within a frame, without a GPU.
import { rgb } from "./colours";

export interface Points {
  x: Float32Array;
  y: Float32Array;
  /** pixel = value · scale + offset, in device pixels. */
  scaleX: number;
  offsetX: number;
  scaleY: number;
  offsetY: number;
  codes: Uint16Array;
  palette: string[];
  background: string;
  /** Radius in device pixels. */
  radius: number;
  opacity: number;
  /** Rows that stand out; the others become faint. */
  mask: Uint8Array | null;
  /** Order of drawing, so that no group always covers another. */
  order: Uint32Array;
}

/** A fixed shuffle of n places. */
export function shuffled(n: number): Uint32Array {
  const order = Uint32Array.from({ length: n }, (_, i) => i);
  let state = 1;
  for (let i = n - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const j = state % (i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

/** How large points may be, in CSS pixels, so that n of them do not fill the map. */
export function pointRadius(n: number): number {
  if (n <= 150) return 5;
  if (n <= 1500) return 3.6;
  if (n <= 10000) return 2.4;
  return n <= 50000 ? 1.5 : 1.1;
}

export function pointOpacity(n: number): number {
  return n <= 1500 ? 0.85 : n <= 10000 ? 0.7 : 0.55;
}

interface Stamp {
  reach: number;
  /** Places of the pixels of a disc, from its middle, in an image so wide. */
  places: Int32Array;
  /** How much of each is covered, 1 … 256. */
  cover: Int32Array;
}

function stamp(radius: number, opacity: number, width: number): Stamp {
  const reach = Math.ceil(radius);
  const places: number[] = [];
  const cover: number[] = [];
  for (let v = -reach; v <= reach; v++) {
    for (let u = -reach; u <= reach; u++) {
      const share = Math.round(256 * opacity * Math.max(0, Math.min(1, radius + 0.5 - Math.hypot(u, v))));
      if (share > 0) (places.push(v * width + u), cover.push(share));
    }
  }
  return { reach, places: Int32Array.from(places), cover: Int32Array.from(cover) };
}

/** Fill the image with the background and blend every point over it. */
export function paint(image: ImageData, points: Points): void {
  const pixels = new Uint32Array(image.data.buffer);
  pixels.fill(packed(points.background));
  const palette = Uint32Array.from(points.palette, packed);
  if (points.mask) blend(pixels, image.width, image.height, points, palette, 0, points.opacity * 0.16);
  blend(pixels, image.width, image.height, points, palette, 1, points.mask ? Math.max(points.opacity, 0.8) : points.opacity);
}

function packed(hex: string): number {
  const [r, g, b] = rgb(hex);
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** One pass over the rows whose mark is `mark`; all of them without a mask. */
function blend(
  pixels: Uint32Array,
  width: number,
  height: number,
  p: Points,
  palette: Uint32Array,
  mark: number,
  opacity: number,
): void {
  const { reach, places, cover } = stamp(p.radius, opacity, width);
  const { x, y, codes, mask, order } = p;
  for (let at = 0; at < order.length; at++) {
    const i = order[at];
    if (mask !== null && mask[i] !== mark) continue;
    const px = Math.round(x[i] * p.scaleX + p.offsetX);
    const py = Math.round(y[i] * p.scaleY + p.offsetY);
    if (!(px >= reach && py >= reach && px < width - reach && py < height - reach)) continue;
    const middle = py * width + px;
    const colour = palette[codes[i]];
    const redBlue = colour & 0xff00ff;
    const green = colour & 0x00ff00;
    for (let c = 0; c < places.length; c++) {
      const place = middle + places[c];
      const a = cover[c];
      const under = pixels[place];
      // two channels at a time: 8 bits each with 8 bits of room above them
      const rb = ((Math.imul(under & 0xff00ff, 256 - a) + Math.imul(redBlue, a)) >>> 8) & 0xff00ff;
      const g = ((Math.imul(under & 0x00ff00, 256 - a) + Math.imul(green, a)) >>> 8) & 0x00ff00;
      pixels[place] = 0xff000000 | rb | g;
    }
  }
}
