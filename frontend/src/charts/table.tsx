// A plain table with a caption: the other way to read a chart.
import { short } from "../format";

export function DataTable(props: { caption: string; head: string[]; rows: (string | number)[][] }) {
  return (
    <div class="table-scroll" role="region" aria-label={props.caption} tabIndex={0}>
      <table class="data">
        <caption>{props.caption}</caption>
        <thead>
          <tr>
            {props.head.map((text, j) => (
              <th key={j} scope="col">
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) =>
                j === 0 ? (
                  <th key={j} scope="row">
                    {short(String(cell), 60)}
                  </th>
                ) : (
                  <td key={j}>{cell}</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The same, folded below a chart. */
export function AsTable(props: { caption: string; head: string[]; rows: (string | number)[][] }) {
  return (
    <details class="as-table">
      <summary>As a table</summary>
      <DataTable {...props} />
    </details>
  );
}
