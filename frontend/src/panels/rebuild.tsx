// One row as K components tell it, beside the row itself.
import { useMemo } from "preact/hooks";
import { columnNames, deviations, gain, heldRows, mean, rebuilt, rowTitle, valuesOf } from "../data";
import { count, percent, plain, short } from "../format";
import { k, mostK, page, row, setK } from "../store";
import { Panel } from "./panel";
import { RowPictures } from "./pictures";

const MOST = 24;

export function RebuildPanel() {
  const held = useMemo(heldRows, []);
  const i = row.value !== null && valuesOf(row.value) ? row.value : held[0];
  const lead = !page.columns!.signed
    ? "Each row is a sum of the parts, so much of each and nothing taken away. With few parts only some of it is there."
    : page.picture
    ? "Each picture is the mean picture plus so much of each component. Few components give the gist, more give the detail."
    : "With few components only the broad lines of a row come back. Move the number of components and see what is gained.";
  return (
    <Panel id="rebuild" title={`${page.picture ? "Pictures" : "Rows"} from few ${page.columns!.signed ? "components" : "parts"}`} lead={lead}>
      <div class="controls">
        <RowStepper held={held} row={i} />
        <KSlider />
      </div>
      {page.picture ? <RowPictures row={i} /> : <RowBars row={i} />}
    </Panel>
  );
}

function RowStepper(props: { held: number[]; row: number }) {
  const at = props.held.indexOf(props.row);
  const go = (step: number) => (row.value = props.held[(at + step + props.held.length) % props.held.length]);
  return (
    <div class="row-stepper" role="group" aria-label="Row">
      <button type="button" aria-label="Previous row" onClick={() => go(-1)}>
        ‹
      </button>
      <b>{short(rowTitle(props.row), 40)}</b>
      <button type="button" aria-label="Next row" onClick={() => go(1)}>
        ›
      </button>
      <button type="button" class="quiet" onClick={() => go(1 + Math.floor(Math.random() * (props.held.length - 1)))}>
        any row
      </button>
    </div>
  );
}

export function KSlider() {
  if (mostK < 2) return null;
  return (
    <label class="k-slider">
      components
      <input type="range" min={1} max={mostK} value={k.value} aria-valuetext={`${k.value} of ${mostK} components`} onInput={(e) => setK(Number(e.currentTarget.value))} />
      <b class="number">{count(k.value)}</b>
    </label>
  );
}

/** How much of the row's squared distance from the mean comes back, as the fit measures it. */
export function kept(own: Float32Array, told: Float32Array): number {
  const [centre, g] = [mean(), gain()];
  let [left, all] = [0, 0];
  for (let j = 0; j < own.length; j++) {
    if (own[j] !== own[j]) continue;
    left += ((own[j] - told[j]) * g[j]) ** 2;
    all += ((own[j] - centre[j]) * g[j]) ** 2;
  }
  return all > 0 ? 1 - left / all : 1;
}

/** Zero where nothing is left but what float32 rounds away. */
function leftOver(own: number, told: number, centre: number): number {
  return Math.abs(own - told) < 1e-6 * (Math.abs(own) + Math.abs(centre)) ? 0 : own - told;
}

function RowBars(props: { row: number }) {
  const own = valuesOf(props.row)!;
  const told = rebuilt(props.row, k.value);
  const [centre, sd] = [mean(), deviations()];
  const by = (value: number, j: number) => (sd[j] > 0 ? (value - centre[j]) / sd[j] : 0);
  const size = (j: number) => (own[j] === own[j] ? Math.abs(by(own[j], j)) : Math.abs(by(told[j], j)));
  const order = columnNames.map((_, j) => j).sort((a, b) => size(b) - size(a)).slice(0, MOST);
  const most = Math.max(2, ...order.map((j) => Math.max(size(j), Math.abs(by(told[j], j)))));
  const share = kept(own, told);
  return (
    <>
      <p class="headline" aria-live="polite">
        {share >= 0 ? (
          <>
            <b>{percent(share)}</b> of this row's squared distance from the mean comes back
          </>
        ) : (
          "This row is further from what these components say than from the mean"
        )}
      </p>
      <div class="table-scroll" role="region" aria-label="The row and its reconstruction" tabIndex={0}>
        <table class="data rebuild">
          <thead>
            <tr>
              <th scope="col">column</th>
              <th scope="col" class="number">
                the row
              </th>
              <th scope="col" class="number">
                {count(k.value)} component{k.value === 1 ? "" : "s"}
              </th>
              <th scope="col" class="number">
                left over
              </th>
              <th scope="col" class="wide">
                <span class="key">
                  <i class="key-bar" /> reconstructed <i class="key-dot" /> the row
                </span>
              </th>
            </tr>
          </thead>
          <tbody>
            {order.map((j) => (
              <tr key={j}>
                <th scope="row">{short(columnNames[j], 32)}</th>
                <td class="number">{own[j] === own[j] ? plain(own[j]) : <em>missing</em>}</td>
                <td class="number">{plain(told[j])}</td>
                <td class="number muted">{plain(leftOver(own[j], told[j], centre[j]), 3)}</td>
                <td class="wide">
                  <Against told={by(told[j], j) / most} own={by(own[j], j) / most} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {columnNames.length > MOST && <p class="note">The {MOST} columns in which this row is furthest from the mean. The middle of the bars is the mean.</p>}
      {columnNames.length <= MOST && <p class="note">Bars are in standard deviations; their middle is the mean of the column.</p>}
    </>
  );
}

/** A bar from the middle to what was told, and a dot at the truth; both −1 … 1. */
function Against(props: { told: number; own: number }) {
  const at = (v: number) => 50 + 48 * Math.max(-1, Math.min(1, v));
  const [from, to] = [Math.min(50, at(props.told)), Math.max(50, at(props.told))];
  return (
    <span class="bar-track signed tall-track" aria-hidden="true">
      <span class={props.told < 0 ? "bar negative" : "bar positive"} style={{ left: `${from}%`, width: `${to - from}%` }} />
      {props.own === props.own && <span class="truth" style={{ left: `${at(props.own)}%` }} />}
    </span>
  );
}
