// Rows unlike the others: far out along the components, or far from what the components can say.
import { useComputed } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { BarTable } from "../charts/bars";
import { extent } from "../charts/scale";
import { AsTable } from "../charts/table";
import { columnNames, gain, loadings, mean, rebuilt, rowCount, rowName, rowTitle, scoreDeviations, scores, valuesOf } from "../data";
import { count, percent, plain, short } from "../format";
import { numbers } from "../payload";
import { Cloud } from "../scatter/cloud";
import { Ring } from "../scatter/marks";
import { colouring } from "../scatter/colours";
import { mostK, page, row, selection, colouredBy } from "../store";
import { Panel } from "./panel";
import { RowPicture } from "./pictures";

const MOST = 10;

export function OutliersPanel() {
  const limits = page.rows!.limits!;
  const t2 = useMemo(() => numbers(limits.t2), []);
  const q = useMemo(() => numbers(limits.q), []);
  const colours = useComputed(() => colouring(colouredBy.value)).value;
  const [a, b] = [limits.t2Limit ?? Infinity, limits.qLimit ?? Infinity];
  const beyond = useMemo(() => outside(t2, q, a, b), []);
  const home = useMemo(() => ({ x: from0(t2, a), y: from0(q, b) }), []);
  const at = row.value ?? beyond[0] ?? furthest(t2);
  return (
    <Panel
      id="unusual"
      title="Rows unlike the others"
      lead="To the right: far from the centre along the components (T²). Further up: badly described by them (Q). Behind the lines, fewer than one row in twenty of a normal cloud would lie."
    >
      <p class="headline">
        <b>{count(beyond.length)}</b> of {count(rowCount)} rows {beyond.length === 1 ? "is" : "are"} beyond a limit of {Math.round(limits.level * 100)} %, for {count(mostK)} components
      </p>
      <div class="map">
        <Cloud
          x={t2}
          y={q}
          codes={colours.codes}
          palette={colours.palette}
          mask={selection.value?.mask ?? null}
          label={`T² and Q of ${count(rowCount)} rows.`}
          xLabel="T²: distance along the components"
          yLabel="Q: distance from them"
          home={home}
          onPick={(i) => (row.value = i < 0 ? null : i)}
          over={(sx, sy, box) => (
            <g class="limit">
              {Number.isFinite(a) && <line x1={sx(a)} x2={sx(a)} y1={box.top} y2={box.height - box.bottom} />}
              {Number.isFinite(b) && <line x1={box.left} x2={box.width - box.right} y1={sy(b)} y2={sy(b)} />}
              <Ring x={sx(t2[at])} y={sy(q[at])} />
            </g>
          )}
        />
        <aside aria-label="Contributions">
          <Contributions row={at} />
          <p class="note">{row.value === null ? "The row furthest out. Click a point to see which columns put it there." : "Which columns put this row there."}</p>
        </aside>
      </div>
      {beyond.length > 0 && (
        <details class="as-table">
          <summary>The rows beyond a limit</summary>
          <ul class="members">
            {beyond.slice(0, 60).map((i) => (
              <li key={i}>
                <button type="button" class="pick" onClick={() => (row.value = i)}>
                  {short(rowName(i), 40)}
                </button>
              </li>
            ))}
          </ul>
          <AsTable
            caption="T² and Q of the rows beyond a limit, the furthest first"
            head={["row", "T²", "Q", "beyond"]}
            rows={beyond.slice(0, 200).map((i) => [rowName(i), plain(t2[i]), plain(q[i]), [t2[i] > a && "T²", q[i] > b && "Q"].filter(Boolean).join(" and ")])}
          />
        </details>
      )}
    </Panel>
  );
}

/** Where there are no limits, and why. */
export function NoLimitsPanel() {
  return (
    <Panel id="unusual" title="Rows unlike the others" lead={page.rows!.noLimits}>
      {null}
    </Panel>
  );
}

function furthest(values: Float32Array): number {
  let most = 0;
  for (let i = 1; i < values.length; i++) if (values[i] > values[most]) most = i;
  return most;
}

function from0(values: Float32Array, limit: number): [number, number] {
  const top = Math.max(extent(values)[1], Number.isFinite(limit) ? limit * 1.2 : 0, 1e-12);
  return [-0.03 * top, 1.06 * top];
}

/** Rows beyond a limit, by how many times they exceed it. */
function outside(t2: Float32Array, q: Float32Array, a: number, b: number): number[] {
  const size = (i: number) => Math.max(t2[i] / a, q[i] / b);
  const found: number[] = [];
  for (let i = 0; i < t2.length; i++) if (size(i) > 1) found.push(i);
  return found.sort((i, j) => size(j) - size(i));
}

/** What each column adds to T² and Q: (Σ v t/√λ)² and (y − ŷ)² (Alcala & Qin 2009). */
function Contributions(props: { row: number }) {
  const i = props.row;
  const own = valuesOf(i);
  const table = loadings();
  if (!table) return <h3>{short(rowTitle(i), 60)}</h3>;
  const sd = scoreDeviations();
  const within = columnNames.map((_, j) => {
    let sum = 0;
    for (let axis = 0; axis < table.rows; axis++) if (sd[axis] > 0) sum += (table.data[axis * table.cols + j] * scores()[axis][i]) / sd[axis];
    return sum * sum;
  });
  const told = rebuilt(i, mostK);
  const [centre, g] = [mean(), gain()];
  const from = own ? Array.from(own, (v, j) => (v === v ? ((v - told[j]) * g[j]) ** 2 : 0)) : null;
  return (
    <div class="contributions">
      <h3>{short(rowTitle(i), 60)}</h3>
      {page.picture && <RowPicture row={i} />}
      <Shares caption="Share of T²" values={within} own={own} centre={centre} />
      {from && <Shares caption="Share of Q" values={from} own={own} centre={centre} />}
    </div>
  );
}

function Shares(props: { caption: string; values: number[]; own: Float32Array | null; centre: Float32Array }) {
  const total = props.values.reduce((sum, v) => sum + v, 0) || 1;
  const order = props.values.map((_, j) => j).sort((a, b) => props.values[b] - props.values[a]);
  const bars = order.slice(0, MOST / 2).map((j) => ({ name: columnNames[j], value: props.values[j] / total, text: percent(props.values[j] / total) }));
  return <BarTable caption={props.caption} bars={bars} valueLabel="share" nameLabel="column" />;
}
