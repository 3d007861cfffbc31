// Rows × columns: which entries were missing, what was filled in, and how sure that is.
import { useMemo, useState } from "preact/hooks";
import { Choice } from "../charts/choice";
import { useWidth } from "../charts/frame";
import { AsTable } from "../charts/table";
import { count, percent, plain, short } from "../format";
import { type Blob, numbers, whole } from "../payload";

interface Holes {
  columns: string[];
  rows: string[];
  row: Blob;
  column: Blob;
  value: Blob;
  deviation: Blob;
  doubt: Blob;
  missing: number[];
  filled: number;
  entries: number;
  nRows: number;
  nColumns: number;
  noise: number | null;
  scaled: boolean;
}

interface Cell {
  row: number;
  column: number;
  value: number;
  deviation: number;
  /** Not a number: nobody knows how sure it is. */
  doubt: number;
}

type Order = "data" | "holes";

const ORDERS = [
  { value: "data", text: "as in the data" },
  { value: "holes", text: "most missing first" },
] as const;

export function HolesSection(props: { data: Record<string, unknown> }) {
  const data = props.data as unknown as Holes;
  const cells = useMemo(() => readCells(data), [data]);
  const [order, setOrder] = useState<Order>("data");
  const [at, setAt] = useState<{ row: number; column: number } | null>(null);
  const rows = useMemo(() => ordered(data, cells, order), [data, cells, order]);
  const shown = data.rows.length < data.nRows || data.columns.length < data.nColumns;
  return (
    <div class="holes">
      <p class="lead">
        {count(data.filled)} of {count(data.entries)} entries ({percent(data.filled / data.entries)}) were missing. Each was
        filled with what the model expects of it; the stronger its colour, the less the rest of its row says about it.
        {data.noise !== null && ` The noise of an observed entry has a standard deviation of ${plain(data.noise, 3)}${data.scaled ? " of its column's" : ""}.`}
        {shown && ` Shown are the ${count(data.rows.length)} rows and ${count(data.columns.length)} columns with most holes.`}
      </p>
      <div class="controls">
        <Choice label="Rows" options={ORDERS} value={order} onChange={setOrder} />
        <Legend />
      </div>
      <HoleMap data={data} cells={cells} rows={rows} at={at} onAt={setAt} />
      <p class="readout" role="status">
        {at === null ? "Point at a cell to read it." : said(data, cells, at)}
      </p>
      <AsTable
        caption="The filled entries that the model is least sure of"
        head={["row", "column", "filled with", "± standard deviation", "of the column's"]}
        rows={[...cells]
          .sort((a, b) => (b.doubt || 0) - (a.doubt || 0))
          .slice(0, 30)
          .map((one) => [
            data.rows[one.row],
            data.columns[one.column],
            plain(one.value),
            plain(one.deviation, 3),
            percent(one.doubt),
          ])}
      />
    </div>
  );
}

function readCells(data: Holes): Cell[] {
  const [row, column] = [whole(data.row), whole(data.column)];
  const [value, deviation, doubt] = [numbers(data.value), numbers(data.deviation), numbers(data.doubt)];
  return Array.from(row, (one, i) => ({
    row: one,
    column: column[i],
    value: value[i],
    deviation: deviation[i],
    doubt: doubt[i],
  }));
}

function ordered(data: Holes, cells: Cell[], order: Order): number[] {
  const places = data.rows.map((_, i) => i);
  if (order === "data") return places;
  const holes = new Array<number>(data.rows.length).fill(0);
  for (const one of cells) holes[one.row]++;
  return places.sort((a, b) => holes[b] - holes[a] || a - b);
}

function said(data: Holes, cells: Cell[], at: { row: number; column: number }): string {
  const where = `${short(data.rows[at.row], 40)}, ${short(data.columns[at.column], 40)}`;
  const cell = cells.find((one) => one.row === at.row && one.column === at.column);
  if (!cell) return `${where}: observed.`;
  const sure = Number.isFinite(cell.doubt) ? `its standard deviation is ${percent(cell.doubt)} of the column's` : "how sure that is nobody knows";
  return `${where}: missing, filled with ${plain(cell.value)} ± ${plain(cell.deviation, 3)}; ${sure}.`;
}

function Legend() {
  return (
    <p class="legend">
      <span class="swatch observed" /> observed <span class="swatch fill-sure" /> filled, sure{" "}
      <span class="swatch fill-unsure" /> filled, hardly more than a guess
    </p>
  );
}

function HoleMap(props: {
  data: Holes;
  cells: Cell[];
  rows: number[];
  at: { row: number; column: number } | null;
  onAt: (at: { row: number; column: number } | null) => void;
}) {
  const [holder, width] = useWidth();
  const { data, rows } = props;
  const high = Math.max(3, Math.min(18, 520 / rows.length));
  const named = high >= 10;
  const left = named ? Math.min(150, Math.max(...data.rows.map((one) => 7 * Math.min(one.length, 20))) + 12) : 12;
  const wide = Math.min(64, (width - left) / data.columns.length);
  const top = wide >= 14 ? 78 : 8;
  const place = new Map(rows.map((one, i) => [one, i]));
  const point = (event: PointerEvent) => {
    const frame = (event.currentTarget as SVGElement).getBoundingClientRect();
    const column = Math.floor((event.clientX - frame.left - left) / wide);
    const row = rows[Math.floor((event.clientY - frame.top - top) / high)];
    const inside = row !== undefined && column >= 0 && column < data.columns.length;
    props.onAt(inside ? { row, column } : null);
  };
  const [w, h] = [left + wide * data.columns.length, top + high * rows.length];
  return (
    <div ref={holder} class="hole-map">
      <svg
        class="chart"
        width={Math.max(w, 1)}
        height={h + 4}
        role="img"
        aria-label={`Map of missing entries: ${count(rows.length)} rows by ${count(data.columns.length)} columns`}
        onPointerMove={point}
        onPointerLeave={() => props.onAt(null)}
      >
        <rect class="observed" x={left} y={top} width={wide * data.columns.length} height={high * rows.length} />
        {wide >= 14 &&
          data.columns.map((name, j) => (
            <text key={j} transform={`translate(${left + (j + 0.5) * wide + 3} ${top - 6}) rotate(-50)`}>
              {short(name, 14)}
            </text>
          ))}
        {named &&
          rows.map((row, i) => (
            <text key={row} x={left - 6} y={top + (i + 0.5) * high + 4} text-anchor="end">
              {short(data.rows[row], 20)}
            </text>
          ))}
        {wide >= 6 &&
          data.columns.map((_, j) =>
            j === 0 ? null : <line key={j} class="seam" x1={left + j * wide} x2={left + j * wide} y1={top} y2={h} />,
          )}
        {props.cells.map((one, i) => (
          <rect
            key={i}
            class={Number.isFinite(one.doubt) ? "filled" : "filled unknown"}
            x={left + one.column * wide}
            y={top + (place.get(one.row) ?? 0) * high}
            width={Math.max(wide - (wide > 5 ? 1 : 0), 0.5)}
            height={Math.max(high - (high > 4 ? 1 : 0), 0.5)}
            fill-opacity={0.25 + 0.75 * Math.min(1, Number.isFinite(one.doubt) ? one.doubt : 1)}
          />
        ))}
        {props.at && (
          <rect
            class="cursor"
            x={left + props.at.column * wide}
            y={top + (place.get(props.at.row) ?? 0) * high}
            width={wide}
            height={high}
          />
        )}
      </svg>
    </div>
  );
}
