// What a kernel takes for alike, and between which shares the truth lies.
import { Forest } from "../charts/forest";
import { AxisBottom, AxisLeft, Svg, box, useWidth } from "../charts/frame";
import { linear } from "../charts/scale";
import { AsTable } from "../charts/table";
import { count, percent, plain } from "../format";
import { type Blob, numbers } from "../payload";

interface Curve {
  distance: Blob;
  value: Blob;
  measure: string;
  edges: Blob;
  counts: number[];
  half: number;
  pairs: number;
}

interface Kernel {
  formula: string;
  centered: boolean;
  scaled: boolean;
  width: string;
  accuracy: string;
  noLoadings: string;
  rank: number | null;
  nRows: number;
  shares: Blob;
  lower: Blob;
  upper: Blob;
  exact: boolean;
  curve: Curve | null;
}

export function KernelSection(props: { data: Record<string, unknown> }) {
  const data = props.data as unknown as Kernel;
  const [shares, lower, upper] = [numbers(data.shares), numbers(data.lower), numbers(data.upper)];
  const prepared = [data.scaled ? "scaled columns" : "columns as they are", data.centered ? "centred" : "not centred"];
  return (
    <div class="kernel">
      <p class="formula">
        k(x, y) = {data.formula} <small>({prepared.join(", ")})</small>
      </p>
      <p class="measure">{data.noLoadings}</p>
      {data.curve && <Similarity curve={data.curve} />}
      <p class="measure">Width: {data.width}.</p>
      <h3>Shares of the components</h3>
      <p class="measure">
        {data.accuracy}.{" "}
        {data.exact
          ? "The shares are exact to rounding."
          : "Landmarks stand for the rows, so each share is only known to lie within its interval; that is certain, not probable."}
      </p>
      {!data.exact && (
        <Forest
          label="Intervals of the shares"
          estimates={Array.from(shares.slice(0, 20), (value, i) => ({
            name: `PC${i + 1}`,
            value,
            lower: lower[i],
            upper: upper[i],
          }))}
          xLabel="share of the variance in the space of features"
          text={percent}
        />
      )}
      <AsTable
        caption="Shares of the components and their certain intervals"
        head={["component", "share", "at least", "at most"]}
        rows={Array.from(shares, (value, i) => [`PC${i + 1}`, percent(value), percent(lower[i]), percent(upper[i])])}
      />
    </div>
  );
}

function Similarity(props: { curve: Curve }) {
  const { curve } = props;
  const [holder, width] = useWidth();
  const b = box(width, 250, { top: 28, bottom: 46 });
  const [distance, value, edges] = [numbers(curve.distance), numbers(curve.value), numbers(curve.edges)];
  const tallest = Math.max(...curve.counts, 1);
  const x = linear([0, distance[distance.length - 1]], [b.left, b.width - b.right]);
  const y = linear([0, Math.max(...value) * 1.05], [b.height - b.bottom, b.top]);
  const floor = b.height - b.bottom;
  const points = Array.from(distance, (one, i) => `${x(one).toFixed(1)},${y(value[i]).toFixed(1)}`).join(" ");
  return (
    <div ref={holder} class="similarity">
      <Svg box={b} label={`The kernel falls to one half at a distance of ${plain(curve.half, 3)}`}>
        {curve.counts.map((one, i) => (
          <rect
            key={i}
            class="histogram"
            x={x(edges[i])}
            width={Math.max(x(edges[i + 1]) - x(edges[i]) - 1, 0.5)}
            y={floor - (one / tallest) * (floor - b.top) * 0.8}
            height={(one / tallest) * (floor - b.top) * 0.8}
          />
        ))}
        <AxisLeft scale={y} box={b} label="similarity" />
        <AxisBottom scale={x} box={b} label={`distance of two rows, ${curve.measure}`} />
        <polyline class="line" points={points} />
        <g class="mark">
          <line x1={x(curve.half)} x2={x(curve.half)} y1={b.top} y2={floor} />
          <text x={x(curve.half) + 5} y={b.top - 6}>
            half as alike at {plain(curve.half, 3)}
          </text>
        </g>
      </Svg>
      <p class="caption">
        Line: how alike the kernel takes two rows at that distance. Bars: how far pairs of rows really are ({count(curve.pairs)}{" "}
        pairs). A useful kernel falls where the bars stand.
      </p>
    </div>
  );
}
