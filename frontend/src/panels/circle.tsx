// The correlation circle: columns by their correlation with the two components of the map.
import { useWidth } from "../charts/frame";
import { linear } from "../charts/scale";
import { AsTable } from "../charts/table";
import { columnNames, correlations } from "../data";
import { fixed, percent, short } from "../format";
import { placed } from "../scatter/labels";
import { axisX, axisY, page } from "../store";
import { axisLabel } from "./map";

const MOST = 40;

export function Circle() {
  const [holder, room] = useWidth(480);
  const size = Math.min(room, 500);
  const table = correlations()!;
  const [a, b] = [axisX.value, axisY.value];
  const all = columnNames.map((name, j) => {
    const [u, v] = [table.data[a * table.cols + j], table.data[b * table.cols + j]];
    return { name, u, v, seen: u * u + v * v };
  });
  const shown = all.sort((p, q) => q.seen - p.seen).slice(0, MOST);
  const x = linear([-1.12, 1.12], [0, size]);
  const y = linear([-1.12, 1.12], [size, 0]);
  const labels = placed(
    shown.map((one) => ({ x: x(one.u), y: y(one.v), text: short(one.name, 20), left: one.u < 0 })),
    size,
    size,
    7,
  );
  return (
    <div class="circle">
      <div>
        <h3>Correlations with {page.axes[a]} and {page.axes[b]}</h3>
        <p class="measure">
          The nearer a column is to the circle, the more of it these two components show. Columns in the same direction rise and fall together,
          those opposite each other move against each other, and those at a right angle have nothing to do with each other.
        </p>
        <p class="note">The axes are those of the map.{columnNames.length > MOST ? ` The ${MOST} columns seen best are drawn.` : ""}</p>
      </div>
      <div ref={holder}>
        <svg class="chart" width={size} height={size} viewBox={`0 0 ${size} ${size}`} role="img" aria-label={`Correlation circle of ${shown.length} columns; the same numbers are in the table below.`}>
          <circle class="outline" cx={x(0)} cy={y(0)} r={x(1) - x(0)} />
          <g class="axis">
            <line class="grid" x1={x(-1)} x2={x(1)} y1={y(0)} y2={y(0)} />
            <line class="grid" x1={x(0)} x2={x(0)} y1={y(-1)} y2={y(1)} />
            <text class="axis-label" x={x(0)} y={y(-1) + 18} text-anchor="middle">
              → {axisLabel(a)}
            </text>
            <text class="axis-label" x={x(0)} y={y(1) - 8} text-anchor="middle">
              ↑ {axisLabel(b)}
            </text>
          </g>
          {shown.map((one) => (
            <g key={one.name} class="spoke" opacity={(0.25 + 0.75 * one.seen).toFixed(2)}>
              <line x1={x(0)} y1={y(0)} x2={x(one.u)} y2={y(one.v)} />
              <circle cx={x(one.u)} cy={y(one.v)} r="3" />
            </g>
          ))}
          <g class="names">
            {labels.map((label, i) => (
              <text key={i} x={label.x} y={label.y} text-anchor={label.anchor}>
                {label.text}
              </text>
            ))}
          </g>
        </svg>
        <AsTable
          caption="Correlations of columns with the components of the map"
          head={["column", page.axes[a], page.axes[b], "shown by both"]}
          rows={shown.map((one) => [one.name, fixed(one.u, 2), fixed(one.v, 2), percent(one.seen)])}
        />
      </div>
    </div>
  );
}
