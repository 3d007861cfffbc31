// What the colours mean. A group in the legend can be clicked to select its rows.
import { count, plain, short } from "../format";
import { type Colouring, ramp } from "../scatter/colours";
import { select, selection, theme } from "../store";

const MOST = 12;

export function Legend(props: { colours: Colouring }) {
  const { kind, name, levels, counts, palette, codes, range } = props.colours;
  if (kind === "none") return null;
  if (kind === "number") {
    return (
      <div class="legend-block">
        <h3>{short(name, 60)}</h3>
        <div class="ramp" aria-hidden="true">
          {Array.from({ length: 24 }, (_, i) => (
            <span key={i} style={{ background: ramp(i / 23, theme.value === "dark") }} />
          ))}
        </div>
        <p class="ramp-ends">
          <span>{plain(range[0])}</span>
          <span>{plain(range[1])}</span>
        </p>
      </div>
    );
  }
  const pick = (level: number) => {
    const words = `${short(name, 30)} is ${short(levels[level], 40)}`;
    if (selection.value?.words === words) selection.value = null;
    else select(Uint8Array.from(codes, (code) => (code === level ? 1 : 0)), words);
  };
  const without = counts[levels.length] ?? 0;
  return (
    <div class="legend-block">
      <h3>{short(name, 60)}</h3>
      <ul class="groups">
        {levels.slice(0, MOST).map((level, i) => (
          <li key={i}>
            <button type="button" onClick={() => pick(i)} title="Select these rows">
              <span class="swatch" style={{ background: palette[i] }} />
              <span class="group-name">{short(level, 40)}</span>
              <span class="number">{count(counts[i])}</span>
            </button>
          </li>
        ))}
      </ul>
      {levels.length > MOST && <p class="note">and {count(levels.length - MOST)} more groups, in grey</p>}
      {without > 0 && <p class="note">{count(without)} rows without a group, in grey</p>}
    </div>
  );
}
