// The columns behind each component: a table that can be searched and sorted.
import { useSignal } from "@preact/signals";
import { BarCell } from "../charts/bars";
import { columnNames, loadings } from "../data";
import { count, fixed, short } from "../format";
import { k, page } from "../store";

const MOST_AXES = 8;
const PAGE = 30;

export function LoadingsTable() {
  const table = loadings()!;
  const { entry, signed } = page.columns!;
  const search = useSignal("");
  const sort = useSignal<{ axis: number; down: boolean }>({ axis: 0, down: true });
  const shown = useSignal(PAGE);
  const begin = useSignal(0);
  const from = Math.min(begin.value, Math.floor((k.value - 1) / MOST_AXES) * MOST_AXES);
  const axes = Math.min(k.value - from, MOST_AXES);
  const value = (axis: number, column: number) => table.data[(from + axis) * table.cols + column];
  const wanted = search.value.trim().toLowerCase();
  const found = columnNames.map((_, j) => j).filter((j) => !wanted || columnNames[j].toLowerCase().includes(wanted));
  const by = Math.min(sort.value.axis, axes - 1);
  if (by >= 0) found.sort((a, b) => Math.abs(value(by, b)) - Math.abs(value(by, a)) || a - b);
  else found.sort((a, b) => columnNames[a].localeCompare(columnNames[b]) || a - b);
  if (!sort.value.down) found.reverse();
  const largest = Array.from({ length: axes }, (_, axis) => {
    let most = 1e-300;
    for (let j = 0; j < table.cols; j++) most = Math.max(most, Math.abs(value(axis, j)));
    return most;
  });
  const order = (axis: number) => (by === axis ? (sort.value.down === axis >= 0 ? "descending" : "ascending") : "none");
  const turn = (axis: number) => (sort.value = { axis, down: sort.value.axis === axis ? !sort.value.down : true });
  return (
    <div class="loadings">
      <div class="controls">
        <label>
          search columns
          <input type="search" value={search.value} onInput={(e) => (search.value = e.currentTarget.value)} />
        </label>
        <span class="note" aria-live="polite">
          {count(found.length)} of {count(columnNames.length)} columns
        </span>
        {k.value > MOST_AXES && (
          <div class="row-stepper" role="group" aria-label="Components in the table">
            <button type="button" aria-label="Earlier components" disabled={from === 0} onClick={() => (begin.value = from - MOST_AXES)}>
              ‹
            </button>
            <span aria-live="polite">
              components {count(from + 1)}–{count(from + axes)} of {count(k.value)}
            </span>
            <button type="button" aria-label="Later components" disabled={from + axes >= k.value} onClick={() => (begin.value = from + MOST_AXES)}>
              ›
            </button>
          </div>
        )}
      </div>
      <div class="table-scroll tall" role="region" aria-label="Loadings" tabIndex={0}>
        <table class="data sticky">
          <caption class="visually-hidden">
            The {entry} of each column in components {from + 1} to {from + axes}
          </caption>
          <thead>
            <tr>
              {[-1, ...Array.from({ length: axes }, (_, axis) => axis)].map((axis) => (
                <th key={axis} scope="col" aria-sort={order(axis)}>
                  <button type="button" class="sort" onClick={() => turn(axis)}>
                    {axis < 0 ? "column" : short(page.axes[from + axis], 16)}
                    <span aria-hidden="true">{by === axis ? (sort.value.down ? " ▾" : " ▴") : ""}</span>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {found.slice(0, shown.value).map((j) => (
              <tr key={j}>
                <th scope="row" title={short(columnNames[j], 300)}>
                  {short(columnNames[j], 34)}
                </th>
                {largest.map((most, axis) => (
                  <td key={axis} class="cell">
                    <div>
                      <BarCell value={value(axis, j) / most} signed={signed} />
                      <span class="number">{fixed(value(axis, j))}</span>
                    </div>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {found.length > shown.value && (
        <button type="button" class="more" onClick={() => (shown.value += 200)}>
          Show {count(Math.min(200, found.length - shown.value))} more
        </button>
      )}
    </div>
  );
}
