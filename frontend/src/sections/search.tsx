// How a search went: likelihood or loss by step, or loss of a network by epoch.
import { useMemo, useState } from "preact/hooks";
import { Choice } from "../charts/choice";
import { LineChart } from "../charts/line";
import { extent } from "../charts/scale";
import { AsTable } from "../charts/table";
import { count, plain } from "../format";
import { type Blob, numbers } from "../payload";

interface Search {
  what: string;
  unit: string;
  curves: { name: string; values: Blob }[];
  best: number | null;
  rises: boolean;
  good: boolean;
  word: string;
  sentence: string;
}

type Part = "all" | "last";

const PARTS = [
  { value: "all", text: "all" },
  { value: "last", text: "the last three quarters" },
] as const;

const COLOURS = ["var(--accent)", "var(--negative)"];

export function SearchSection(props: { data: Record<string, unknown> }) {
  const data = props.data as unknown as Search;
  const curves = useMemo(() => data.curves.map((one) => ({ name: one.name, values: numbers(one.values) })), [data]);
  const [part, setPart] = useState<Part>(() => (steep(curves[0].values) ? "last" : "all"));
  const length = Math.max(...curves.map((one) => one.values.length));
  const from = part === "all" ? 0 : Math.floor(length / 4);
  const steps = Array.from({ length: length - from }, (_, i) => from + i + 1);
  const units = `${data.unit}${data.unit.endsWith("s") ? "es" : "s"}`;
  const head = curves.map((one) => one.name);
  return (
    <div class="search">
      <p class="lead">
        <span class={data.good ? "badge good" : "badge bad"}>{data.word}</span> {data.sentence}
      </p>
      {length > 8 && (
        <div class="controls">
          <Choice label={`${units[0].toUpperCase()}${units.slice(1)}`} options={PARTS} value={part} onChange={setPart} />
        </div>
      )}
      {length > 1 ? (
        <LineChart
          series={curves.map((one, i) => ({ name: one.name, x: steps, y: one.values.slice(from), colour: COLOURS[i] }))}
          label={`${data.what} over ${count(length)} ${units}`}
          xLabel={data.unit}
          yLabel={data.what}
          mark={data.best !== null && data.best > from ? { x: data.best, text: `${data.unit} ${data.best} kept` } : undefined}
        />
      ) : (
        <p>One {data.unit} was enough: {plain(curves[0].values[0], 7)}.</p>
      )}
      <AsTable
        caption={`${data.what} by ${data.unit}`}
        head={[data.unit, ...head]}
        rows={thinned(length).map((i) => [i + 1, ...curves.map((one) => plain(one.values[i], 7))])}
      />
    </div>
  );
}

/** Whether the first steps went so far that the later ones would look flat beside them. */
function steep(values: Float32Array): boolean {
  const size = (some: Float32Array) => Math.max(...extent(some)) - Math.min(...extent(some));
  return values.length > 8 && size(values) > 10 * size(values.slice(Math.floor(values.length / 4)));
}

/** At most 40 places of so many, the first and the last among them. */
function thinned(length: number): number[] {
  const most = Math.min(length, 40);
  return Array.from({ length: most }, (_, i) => Math.round((i * (length - 1)) / Math.max(1, most - 1)));
}
