// Some points in a square, with the line on which both numbers are equal.
import { plain } from "../format";
import { AxisBottom, AxisLeft, Svg, box, useWidth } from "./frame";
import { extent, linear, padded } from "./scale";

export function EqualPoints(props: {
  label: string;
  x: ArrayLike<number>;
  y: ArrayLike<number>;
  names: (i: number) => string;
  xLabel: string;
  yLabel: string;
}) {
  const [holder, width] = useWidth(420);
  const side = Math.min(width, 460);
  const b = box(side, side, { left: 62, top: 24, bottom: 46 });
  const domain = padded(extent([...extent(props.x), ...extent(props.y)]));
  const x = linear(domain, [b.left, b.width - b.right]);
  const y = linear(domain, [b.height - b.bottom, b.top]);
  return (
    <div ref={holder} class="points">
      <Svg box={b} label={props.label}>
        <AxisLeft scale={y} box={b} label={props.yLabel} />
        <AxisBottom scale={x} box={b} label={props.xLabel} />
        <line class="equal" x1={x(domain[0])} y1={y(domain[0])} x2={x(domain[1])} y2={y(domain[1])} />
        {Array.from(props.x, (value, i) => (
          <circle key={i} cx={x(value)} cy={y(props.y[i])} r={3}>
            <title>{`${props.names(i)}: measured ${plain(value)}, predicted ${plain(props.y[i])}`}</title>
          </circle>
        ))}
      </Svg>
    </div>
  );
}
