// A line with a band about it, over whole numbers: errors by number of components, coefficients of a spectrum.
import { AxisBottom, AxisLeft, Svg, box, useWidth } from "./frame";
import { extent, linear, padded } from "./scale";

export interface Mark {
  x: number;
  text: string;
}

export function BandChart(props: {
  label: string;
  x: ArrayLike<number>;
  y: ArrayLike<number>;
  lower: ArrayLike<number>;
  upper: ArrayLike<number>;
  xLabel?: string;
  yLabel?: string;
  xText?: (value: number) => string;
  /** Horizontal rule with a word. */
  rule?: { y: number; text: string };
  marks?: Mark[];
  dots?: boolean;
  height?: number;
}) {
  const [holder, width] = useWidth();
  const b = box(width, props.height ?? 260, { top: 30, bottom: props.xLabel ? 46 : 30, left: 62 });
  const n = props.x.length;
  const ends = extent([...extent(props.y), ...extent(props.lower), ...extent(props.upper)]);
  const x = linear(extent(props.x), [b.left, b.width - b.right]);
  const y = linear(padded(ends), [b.height - b.bottom, b.top]);
  const at = (values: ArrayLike<number>, i: number) => `${x(props.x[i]).toFixed(1)},${y(values[i]).toFixed(1)}`;
  const there = Array.from({ length: n }, (_, i) => i).filter((i) => Number.isFinite(props.y[i]));
  const within = there.filter((i) => Number.isFinite(props.lower[i]) && Number.isFinite(props.upper[i]));
  const band = [...within.map((i) => at(props.upper, i)), ...within.reverse().map((i) => at(props.lower, i))].join(" ");
  return (
    <div ref={holder} class="band-chart">
      <Svg box={b} label={props.label}>
        <AxisLeft scale={y} box={b} label={props.yLabel} />
        <AxisBottom scale={x} box={b} label={props.xLabel} text={props.xText} />
        <polygon class="band" points={band} />
        {props.rule && (
          <g class="rule">
            <line x1={b.left} x2={b.width - b.right} y1={y(props.rule.y)} y2={y(props.rule.y)} />
            <text x={b.left + 8} y={y(props.rule.y) + 15} text-anchor="start">
              {props.rule.text}
            </text>
          </g>
        )}
        <polyline class="line" points={there.map((i) => at(props.y, i)).join(" ")} />
        {props.dots && there.map((i) => <circle key={i} class="dot" cx={x(props.x[i])} cy={y(props.y[i])} r={2.5} />)}
        {(props.marks ?? []).map((one, i) => (
          <g key={i} class="mark">
            <line x1={x(one.x)} x2={x(one.x)} y1={b.top} y2={b.height - b.bottom} />
            <text x={x(one.x)} y={b.top - 6 - 12 * (i % 2)} text-anchor={x(one.x) > b.width * 0.8 ? "end" : "start"}>
              {one.text}
            </text>
          </g>
        ))}
      </Svg>
    </div>
  );
}
