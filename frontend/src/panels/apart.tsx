// What sets the selected rows apart from the others.
import { useSignal } from "@preact/signals";
import { BarCell } from "../charts/bars";
import { columnNames, hasValues, rowCount, rowName, setApart, valuesComplete } from "../data";
import { count, fixed, plain, short } from "../format";
import { row, selection } from "../store";

const MOST = 12;

export function Apart() {
  const chosen = selection.value;
  if (!chosen) return null;
  const differences = chosen.count < rowCount ? setApart(chosen.mask).slice(0, MOST) : [];
  const largest = Math.max(...differences.map((one) => Math.abs(one.effect)), 1e-9);
  return (
    <div class="apart" id="apart">
      <h3>
        What sets these {count(chosen.count)} rows apart{" "}
        <button type="button" class="quiet" onClick={() => (selection.value = null)}>
          clear selection
        </button>
      </h3>
      <p class="note">
        Selected {chosen.words}: {count(chosen.count)} of {count(rowCount)} rows. Differences of the means, in standard deviations of the column
        {valuesComplete ? "." : ", of the rows whose values this page holds."}
      </p>
      {!hasValues && <p class="note">This page was made without the values of the rows, so columns cannot be compared.</p>}
      {differences.length > 0 && (
        <div class="table-scroll" role="region" aria-label="Columns that set the selected rows apart" tabIndex={0}>
          <table class="data">
            <thead>
              <tr>
                <th scope="col">column</th>
                <th scope="col" class="number">
                  these
                </th>
                <th scope="col" class="number">
                  the others
                </th>
                <th scope="col" class="wide">difference</th>
                <th scope="col" class="number">
                  in sd
                </th>
              </tr>
            </thead>
            <tbody>
              {differences.map((one) => (
                <tr key={one.column}>
                  <th scope="row">{short(columnNames[one.column], 40)}</th>
                  <td class="number">{plain(one.inside)}</td>
                  <td class="number">{plain(one.outside)}</td>
                  <td class="wide">
                    <BarCell value={one.effect / largest} signed />
                  </td>
                  <td class="number">{one.effect > 0 ? `+${fixed(one.effect, 2)}` : fixed(one.effect, 2)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Members mask={chosen.mask} total={chosen.count} />
    </div>
  );
}

function Members(props: { mask: Uint8Array; total: number }) {
  const shown = useSignal(40);
  const found: number[] = [];
  for (let i = 0; i < props.mask.length && found.length < shown.value; i++) if (props.mask[i]) found.push(i);
  return (
    <details class="members">
      <summary>The rows</summary>
      <ul>
        {found.map((i) => (
          <li key={i}>
            <button type="button" class="pick" onClick={() => (row.value = i)}>
              {short(rowName(i), 40)}
            </button>
          </li>
        ))}
      </ul>
      {props.total > shown.value && (
        <button type="button" onClick={() => (shown.value *= 5)}>
          More of them
        </button>
      )}
    </details>
  );
}
