// One row: its name and its values, those furthest from the mean first.
import { BarCell } from "../charts/bars";
import { columnNames, deviationsOf, hasValues, rowTitle, scores } from "../data";
import { fixed, plain, short } from "../format";
import type { Colouring } from "../scatter/colours";
import { axisX, axisY, mostK, page, row } from "../store";
import { RowPicture } from "./pictures";

const MOST = 7;

export function Card(props: { row: number; colours: Colouring; pinned?: boolean }) {
  const i = props.row;
  const all = deviationsOf(i);
  const { kind, name, levels, codes } = props.colours;
  const level = kind === "group" ? levels[codes[i]] : undefined;
  return (
    <div class="card">
      <h3>
        {short(rowTitle(i), 60)}
        {props.pinned && (
          <button type="button" class="quiet close" aria-label="Let go of this row" onClick={() => (row.value = null)}>
            ×
          </button>
        )}
      </h3>
      {page.picture && <RowPicture row={i} />}
      {level !== undefined && (
        <p class="note">
          {short(name, 30)}: {short(level, 60)}
        </p>
      )}
      <p class="note">
        {page.axes[axisX.value]} {plain(scores()[axisX.value][i], 3)}
        {mostK > 1 && `, ${page.axes[axisY.value]} ${plain(scores()[axisY.value][i], 3)}`}
      </p>
      {all.length > 0 && !page.picture && (
        <table class="mini">
          <caption class="visually-hidden">Values furthest from the mean, in standard deviations</caption>
          <tbody>
            {all.slice(0, MOST).map((one) => (
              <tr key={one.column}>
                <th scope="row">{short(columnNames[one.column], 18)}</th>
                <td class="number">{plain(one.value)}</td>
                <td>
                  <BarCell value={one.by / Math.max(3, Math.abs(all[0].by))} signed />
                </td>
                <td class="number muted">{one.by > 0 ? `+${fixed(one.by, 1)}` : fixed(one.by, 1)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {all.length > MOST && !page.picture && <p class="note">in standard deviations; {all.length - MOST} more columns</p>}
      {hasValues && all.length === 0 && <p class="note">This page does not hold the values of this row.</p>}
    </div>
  );
}
