// Horizontal bars with names: what sets rows apart, contributions, words of a topic.
import { short, plain } from "../format";

export interface Bar {
  name: string;
  value: number;
  /** What stands behind the bar; the value itself if it is not given. */
  text?: string;
}

/** A real table, so that it can be read aloud and copied; the bars are its cells' backgrounds. */
export function BarTable(props: { caption: string; bars: Bar[]; nameLabel?: string; valueLabel?: string; signed?: boolean }) {
  const largest = Math.max(...props.bars.map((one) => Math.abs(one.value)), 1e-300);
  return (
    <table class="bars">
      <caption>{props.caption}</caption>
      <thead class="visually-hidden">
        <tr>
          <th scope="col">{props.nameLabel ?? "name"}</th>
          <th scope="col">{props.valueLabel ?? "value"}</th>
        </tr>
      </thead>
      <tbody>
        {props.bars.map((one, i) => (
          <tr key={i}>
            <th scope="row" title={short(one.name, 300)}>
              {short(one.name, 22)}
            </th>
            <td>
              <BarCell value={one.value / largest} signed={props.signed ?? false} />
              <span class="number">{one.text ?? plain(one.value)}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A bar of −1 … 1 (signed, from the middle) or 0 … 1 (from the left). */
export function BarCell(props: { value: number; signed: boolean }) {
  const size = Math.min(Math.abs(props.value), 1) * (props.signed ? 50 : 100);
  const left = !props.signed ? 0 : props.value < 0 ? 50 - size : 50;
  return (
    <span class={`bar-track ${props.signed ? "signed" : ""}`} aria-hidden="true">
      <span class={props.value < 0 ? "bar negative" : "bar positive"} style={{ left: `${left}%`, width: `${size}%` }} />
    </span>
  );
}
