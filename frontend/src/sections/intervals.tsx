// How sure shares and loadings are.
import { useState } from "preact/hooks";
import { Choice } from "../charts/choice";
import { Forest } from "../charts/forest";
import { AsTable } from "../charts/table";
import { percent, plain } from "../format";
import { type Blob, numbers } from "../payload";

interface Ends {
  estimate: Blob;
  lower: Blob;
  upper: Blob;
}

interface Intervals {
  level: number;
  how: string;
  axes: string[];
  shares: (Ends & { what: string }) | null;
  loadings: { what: string; axes: (Ends & { columns: string[] })[] } | null;
  kept: Blob | null;
  tied: string[];
  assumptions: string[];
  notes: string[];
}

const capital = (word: string) => `${word[0].toUpperCase()}${word.slice(1)}`;

export function IntervalsSection(props: { data: Record<string, unknown> }) {
  const data = props.data as unknown as Intervals;
  const [axis, setAxis] = useState("0");
  const shares = data.shares && estimates(data.axes, data.shares);
  const share = data.shares?.what === "shares";
  const chosen = data.loadings?.axes[Number(axis)];
  const loadings = chosen && estimates(chosen.columns, chosen);
  return (
    <div class="intervals">
      <p class="lead">
        {data.how}. Each interval holds the true number with a probability of {Math.round(data.level * 100)} %, if what stands
        below holds.
      </p>
      {data.tied.length > 0 && (
        <p class="warning">{data.tied.join(", ")}: other rows would turn these into one another. Read them together.</p>
      )}
      {data.notes.map((text, i) => (
        <p class="warning" key={i}>
          {text}
        </p>
      ))}
      {shares && (
        <Forest
          label={`Intervals of the ${data.shares?.what}`}
          estimates={shares}
          xLabel={share ? "share of the variance" : "variance"}
          text={share ? percent : undefined}
        />
      )}
      {data.loadings && (
        <div class="controls">
          <Choice
            label={`${capital(data.loadings.what)} of`}
            options={data.axes.slice(0, 8).map((name, i) => ({ value: String(i), text: name }))}
            value={axis}
            onChange={setAxis}
          />
        </div>
      )}
      {loadings && <Forest label={`${capital(data.loadings!.what)} of ${data.axes[Number(axis)]}`} estimates={loadings} xLabel={data.loadings!.what} zero />}
      {loadings && (
        <AsTable
          caption={`${capital(data.loadings!.what)} of ${data.axes[Number(axis)]}`}
          head={["column", "estimate", "lower", "upper"]}
          rows={loadings.map((one) => [one.name, plain(one.value), plain(one.lower, 3), plain(one.upper, 3)])}
        />
      )}
      <details>
        <summary>What this rests on</summary>
        <ul>
          {data.assumptions.map((text, i) => (
            <li key={i}>{text}</li>
          ))}
        </ul>
      </details>
    </div>
  );
}

function estimates(names: string[], ends: Ends) {
  const [value, lower, upper] = [numbers(ends.estimate), numbers(ends.lower), numbers(ends.upper)];
  return names.map((name, i) => ({ name, value: value[i], lower: lower[i], upper: upper[i] }));
}
