// The bar that stays at the top: where to go, how many components, light or dark.
import { cumulative } from "../data";
import { count, percent } from "../format";
import { k, mostK, page, setK, theme, turnTheme } from "../store";

export interface Place {
  id: string;
  text: string;
}

export function Bar(props: { places: Place[] }) {
  return (
    <div class="bar-top">
      <nav aria-label="Sections">
        {props.places.map((place) => (
          <a key={place.id} href={`#${place.id}`}>
            {place.text}
          </a>
        ))}
      </nav>
      <div class="bar-tools">
        {mostK > 1 && (page.spectrum || page.columns) && <Stepper />}
        <button type="button" class="quiet" onClick={turnTheme} aria-label={theme.value === "dark" ? "Light colours" : "Dark colours"}>
          {theme.value === "dark" ? "☀" : "☾"}
        </button>
      </div>
    </div>
  );
}

function Stepper() {
  const held = page.spectrum ? percent(cumulative()[k.value]) : "";
  return (
    <div class="stepper" role="group" aria-label="Number of components">
      <button type="button" aria-label="One component fewer" disabled={k.value <= 1} onClick={() => setK(k.value - 1)}>
        −
      </button>
      <span>
        <b>{count(k.value)}</b> of {count(mostK)}
        {held && <i> · {held}</i>}
      </span>
      <button type="button" aria-label="One component more" disabled={k.value >= mostK} onClick={() => setK(k.value + 1)}>
        +
      </button>
    </div>
  );
}
