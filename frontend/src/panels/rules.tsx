// What published rules say about the number of components, and why.
import { count } from "../format";
import type { Rule } from "../payload";
import { k, mostK, setK } from "../store";

export function Rules(props: { rules: Rule[]; verdict: string }) {
  const sorted = [...props.rules].sort((a, b) => Number(b.sound) - Number(a.sound) || (a.k ?? 1e9) - (b.k ?? 1e9));
  // the rest of the verdict is what the table says
  const [first] = props.verdict.split(/(?<=\.) /);
  return (
    <div class="rules">
      <h3>{first ? "What the rules advise" : "When a share is reached"}</h3>
      {first && <p class="verdict">{first}</p>}
      <div class="table-scroll" role="region" aria-label="Rules" tabIndex={0}>
        <table class="data rules-table">
          <thead>
            <tr>
              <th scope="col">rule</th>
              <th scope="col" class="number">
                {first ? "advises" : "components"}
              </th>
              <th scope="col">why</th>
              {first && <th scope="col">checks</th>}
            </tr>
          </thead>
          <tbody>
            {sorted.map((rule) => (
              <tr key={rule.title} class={rule.sound ? "" : "unsound"}>
                <th scope="row">{rule.title}</th>
                <td class="number">
                  {rule.k === null ? (
                    "—"
                  ) : rule.k >= 1 && rule.k <= mostK ? (
                    <button type="button" class="pick" aria-label={`Look at ${rule.k} components`} aria-pressed={k.value === rule.k} onClick={() => setK(rule.k!)}>
                      {count(rule.k)}
                    </button>
                  ) : (
                    count(rule.k)
                  )}
                </td>
                <td>{rule.why}</td>
                {first && <td>{rule.k === null ? "" : rule.sound ? "do not contradict it" : "contradict it"}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
