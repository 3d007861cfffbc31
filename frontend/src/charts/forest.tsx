// Numbers with their intervals, one below the other: coefficients, loadings, shares.
import { plain, short } from "../format";
import { AxisBottom, Svg, box, useWidth } from "./frame";
import { extent, linear, padded } from "./scale";

export interface Estimate {
  name: string;
  value: number;
  lower: number;
  upper: number;
}

const ROW = 20;

/** `zero`: draw the line that intervals may or may not cross; those that do are drawn faint. */
export function Forest(props: {
  label: string;
  estimates: Estimate[];
  xLabel?: string;
  zero?: boolean;
  text?: (value: number) => string;
}) {
  const [holder, width] = useWidth();
  const text = props.text ?? ((value: number) => plain(value, 3));
  const names = Math.min(190, Math.max(60, ...props.estimates.map((one) => 7 * Math.min(one.name.length, 26) + 14)));
  const b = box(width, props.estimates.length * ROW + 52, { left: Math.min(names, width / 2.4), top: 6, bottom: 44 });
  const ends = props.estimates.flatMap((one) => [one.value, one.lower, one.upper]);
  const x = linear(padded(extent(props.zero ? [0, ...ends] : ends)), [b.left, b.width - b.right]);
  return (
    <div ref={holder} class="forest">
      <Svg box={b} label={props.label}>
        <AxisBottom scale={x} box={b} label={props.xLabel} text={text} />
        {props.zero && <line class="zero" x1={x(0)} x2={x(0)} y1={b.top} y2={b.height - b.bottom} />}
        {props.estimates.map((one, i) => {
          const y = b.top + (i + 0.5) * ROW;
          const known = Number.isFinite(one.lower) && Number.isFinite(one.upper);
          const unsure = props.zero && known && one.lower <= 0 && one.upper >= 0;
          return (
            <g key={i} class={unsure ? "unsure" : "sure"}>
              <title>{`${short(one.name, 120)}: ${text(one.value)}${known ? `, from ${text(one.lower)} to ${text(one.upper)}` : ""}`}</title>
              <text x={b.left - 8} y={y + 4} text-anchor="end">
                {short(one.name, 24)}
              </text>
              {known && <line class="whisker" x1={x(one.lower)} x2={x(one.upper)} y1={y} y2={y} />}
              <circle cx={x(one.value)} cy={y} r={3.5} />
            </g>
          );
        })}
      </Svg>
    </div>
  );
}
