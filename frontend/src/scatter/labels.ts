// Names beside points, as many as fit without touching.

export interface Label {
  /** Place of its point in the list. */
  of: number;
  x: number;
  y: number;
  text: string;
  /** Which end of the text is at the point. */
  anchor: "start" | "end" | "middle";
}

interface Point {
  x: number;
  y: number;
  text: string;
  /** Which side is tried first; right if nothing is said. */
  left?: boolean;
}

interface Rect {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

const LETTER = 6.6;
const HEIGHT = 14;

/** The first that find room, in the order given; `gap` is the distance from the point. */
export function placed(points: Point[], width: number, height: number, gap: number): Label[] {
  const taken: Rect[] = points.map((p) => ({ left: p.x - gap / 2, right: p.x + gap / 2, top: p.y - gap / 2, bottom: p.y + gap / 2 }));
  const found: Label[] = [];
  points.forEach((point, own) => {
    for (const side of around(point, gap)) {
      const label = { ...side, of: own };
      const rect = outline(label);
      const fits = rect.left >= 0 && rect.right <= width && rect.top >= 0 && rect.bottom <= height;
      if (fits && !taken.some((other, i) => i !== own && touch(rect, other))) {
        taken.push(rect);
        found.push(label);
        return;
      }
    }
  });
  return found;
}

type Side = Omit<Label, "of">;

function around(p: Point, gap: number): Side[] {
  const sides: Side[] = [
    { x: p.x + gap, y: p.y + 4, text: p.text, anchor: "start" },
    { x: p.x - gap, y: p.y + 4, text: p.text, anchor: "end" },
  ];
  if (p.left) sides.reverse();
  return [
    ...sides,
    { x: p.x, y: p.y - gap, text: p.text, anchor: "middle" },
    { x: p.x, y: p.y + gap + 9, text: p.text, anchor: "middle" },
  ];
}

function outline(label: Label): Rect {
  const wide = label.text.length * LETTER;
  const left = label.anchor === "start" ? label.x : label.anchor === "end" ? label.x - wide : label.x - wide / 2;
  return { left, right: left + wide, top: label.y - HEIGHT + 3, bottom: label.y + 3 };
}

function touch(a: Rect, b: Rect): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
