// The top of the page: what was fitted, the finding in one sentence, a few numbers.
import { page } from "../store";

export function Head() {
  return (
    <header class="head">
      <p class="kicker">{page.model}</p>
      <h1>{page.title}</h1>
      <p class="finding">{page.lead}</p>
      <dl class="facts">
        {page.facts.map((fact) => (
          <div key={fact.label}>
            <dt>{fact.label}</dt>
            <dd>
              {fact.value}
              {fact.note && <small>{fact.note}</small>}
            </dd>
          </div>
        ))}
      </dl>
      {page.warnings.map((text, i) => (
        <p class="warning" key={i}>
          {text}
        </p>
      ))}
    </header>
  );
}
