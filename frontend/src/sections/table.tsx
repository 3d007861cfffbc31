// A small table, and counts by name.
import { BarTable } from "../charts/bars";
import { DataTable } from "../charts/table";
import { count, plain } from "../format";

interface Table {
  columns: string[];
  rows: (string | number | null)[][];
  more: number;
  note: string;
}

export function TableSection(props: { data: Record<string, unknown> }) {
  const data = props.data as unknown as Table;
  const shown = (cell: string | number | null) => (cell === null ? "—" : typeof cell === "number" ? plain(cell) : cell);
  return (
    <div>
      {data.note && <p class="measure">{data.note}</p>}
      <DataTable caption="" head={data.columns} rows={data.rows.map((row) => row.map(shown))} />
      {data.more > 0 && <p class="caption">and {count(data.more)} more rows</p>}
    </div>
  );
}

interface Counts {
  what: string;
  of: number;
  names: string[];
  counts: number[];
  note: string;
}

export function CountsSection(props: { data: Record<string, unknown> }) {
  const data = props.data as unknown as Counts;
  return (
    <div>
      <p class="measure">{data.note}</p>
      <BarTable
        caption={`${data.what}, of ${count(data.of)} rows`}
        bars={data.names.map((name, i) => ({ name, value: data.counts[i], text: count(data.counts[i]) }))}
        nameLabel="column"
        valueLabel={data.what}
      />
    </div>
  );
}
