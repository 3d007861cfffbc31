// Marks above the points: names, outlines of groups, arrows of columns, a ring around one row.
import type { Box } from "../charts/frame";
import { type Scale, extent } from "../charts/scale";
import { columnNames, loadings, rowName } from "../data";
import { short } from "../format";
import { axisX, axisY } from "../store";
import type { Ellipse } from "./ellipse";
import { placed } from "./labels";

const MOST_ARROWS = 15;

interface Plane {
  sx: Scale;
  sy: Scale;
  box: Box;
}

/** Names of rows and of arrows, placed together so that none covers another. */
export function Names(props: Plane & { x: Float32Array; y: Float32Array; rows: boolean; factor: number }) {
  const { x, y, sx, sy, box: b } = props;
  const rows = props.rows ? Array.from(x, (v, i) => ({ x: sx(v), y: sy(y[i]), text: short(rowName(i), 22), kind: "row" })) : [];
  const arrows = props.factor > 0 ? tips(props, props.factor).map((one) => ({ x: one.px, y: one.py, text: short(columnNames[one.column], 22), left: one.u < 0, kind: "arrow" })) : [];
  const points = [...rows, ...arrows].map((one) => ({ ...one, x: one.x - b.left, y: one.y - b.top }));
  return (
    <g class="names">
      {placed(points, b.width - b.left - b.right, b.height - b.top - b.bottom, 9).map((label, i) => (
        <text key={i} class={points[label.of].kind} x={label.x + b.left} y={label.y + b.top} text-anchor={label.anchor}>
          {label.text}
        </text>
      ))}
    </g>
  );
}

export function Outlines(props: { rings: Ellipse[]; palette: string[]; sx: Scale; sy: Scale }) {
  return (
    <>
      {props.rings.map((ring) => (
        <polygon
          key={ring.level}
          class="ellipse"
          points={ring.outline.map(([u, v]) => `${props.sx(u).toFixed(1)},${props.sy(v).toFixed(1)}`).join(" ")}
          fill={props.palette[ring.level]}
          stroke={props.palette[ring.level]}
        />
      ))}
    </>
  );
}

export function Ring(props: { x: number; y: number }) {
  return <circle class="ring" cx={props.x} cy={props.y} r="9" />;
}

/** The columns with the longest arrows in the plane, longest first. */
function leading(a: number, b: number): { column: number; u: number; v: number }[] {
  const table = loadings();
  if (!table) return [];
  const found = Array.from({ length: table.cols }, (_, column) => ({
    column,
    u: table.data[a * table.cols + column],
    v: table.data[b * table.cols + column],
  }));
  return found.sort((p, q) => Math.hypot(q.u, q.v) - Math.hypot(p.u, p.v)).slice(0, MOST_ARROWS);
}

/** By how much arrows are drawn longer, so that the longest reaches nearly as far as the rows do; as figures/biplot.py. */
export function arrowFactor(x: Float32Array, y: Float32Array, a: number, b: number): number {
  const reach = extent(Float32Array.from(x, (u, i) => Math.hypot(u, y[i])))[1];
  const longest = leading(a, b)[0];
  const factor = longest ? (0.9 * reach) / (Math.hypot(longest.u, longest.v) || 1) : 0;
  return Number(factor.toPrecision(2));
}

function tips({ sx, sy }: Plane, factor: number) {
  const found = leading(axisX.value, axisY.value).map((one) => ({ ...one, px: sx(one.u * factor), py: sy(one.v * factor) }));
  const length = (one: { px: number; py: number }) => Math.hypot(one.px - sx(0), one.py - sy(0));
  return found.filter((one) => length(one) > 0.12 * length(found[0]));
}

export function Arrows(props: Plane & { factor: number }) {
  const { sx, sy } = props;
  return (
    <g class="arrows">
      {tips(props, props.factor).map((one) => (
        <g key={one.column}>
          <line x1={sx(0)} y1={sy(0)} x2={one.px} y2={one.py} />
          <path d="M0 0L-8 3.2V-3.2Z" transform={`translate(${one.px} ${one.py}) rotate(${(Math.atan2(one.py - sy(0), one.px - sx(0)) * 180) / Math.PI})`} />
        </g>
      ))}
    </g>
  );
}
