// Lines over numbers: learning curves, errors by number of components, shares added up.
import { AxisBottom, AxisLeft, Svg, box, useWidth } from "./frame";
import { extent, linear, padded, ticks } from "./scale";

export interface Series {
  name: string;
  x: ArrayLike<number>;
  y: ArrayLike<number>;
  /** A CSS colour, such as var(--accent). */
  colour?: string;
  dashed?: boolean;
}

export function LineChart(props: {
  series: Series[];
  label: string;
  xLabel?: string;
  yLabel?: string;
  height?: number;
  /** Vertical rule with a word, such as the epoch that was kept. */
  mark?: { x: number; text: string };
  yDomain?: [number, number];
}) {
  const [holder, width] = useWidth();
  const b = box(width, props.height ?? 240, { top: 24, bottom: props.xLabel ? 44 : 30, left: 64 });
  const xs = extent(props.series.flatMap((one) => extent(one.x)));
  const ys = props.yDomain ?? padded(extent(props.series.flatMap((one) => extent(one.y))));
  const whole = props.series.every((one) => Array.prototype.every.call(one.x, Number.isInteger));
  const x = linear(xs, [b.left, b.width - b.right]);
  const y = linear(ys, [b.height - b.bottom, b.top]);
  return (
    <div ref={holder}>
      <Svg box={b} label={props.label}>
        <AxisLeft scale={y} box={b} label={props.yLabel} />
        <AxisBottom scale={x} box={b} label={props.xLabel} at={whole ? ticks(xs, Math.max(2, width / 90)).filter(Number.isInteger) : undefined} />
        {props.mark && (
          <g class="mark">
            <line x1={x(props.mark.x)} x2={x(props.mark.x)} y1={b.top} y2={b.height - b.bottom} />
            <text x={x(props.mark.x)} y={b.top - 6} text-anchor={x(props.mark.x) > b.width - 60 ? "end" : "middle"}>
              {props.mark.text}
            </text>
          </g>
        )}
        {props.series.map((one) => (
          <path
            key={one.name}
            d={path(one.x, one.y, x, y)}
            fill="none"
            stroke={one.colour ?? "var(--accent)"}
            stroke-width="2"
            stroke-dasharray={one.dashed ? "4 3" : undefined}
          />
        ))}
      </Svg>
      {props.series.length > 1 && (
        <ul class="legend">
          {props.series.map((one) => (
            <li key={one.name}>
              <span class="swatch" style={{ background: one.colour ?? "var(--accent)" }} />
              {one.name}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Points joined; a gap where there is no number. */
function path(xs: ArrayLike<number>, ys: ArrayLike<number>, x: (v: number) => number, y: (v: number) => number): string {
  let text = "";
  let pen = false;
  for (let i = 0; i < xs.length; i++) {
    const there = Number.isFinite(xs[i]) && Number.isFinite(ys[i]);
    if (there) text += `${pen ? "L" : "M"}${x(xs[i]).toFixed(1)} ${y(ys[i]).toFixed(1)}`;
    pen = there;
  }
  return text;
}
