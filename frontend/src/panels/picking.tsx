// Rows by name, group or range: what the lasso does, for the keyboard.
import { useSignal } from "@preact/signals";
import { rowCount, rowName, scores } from "../data";
import { count, short } from "../format";
import { numbers, whole } from "../payload";
import { page, row, said, select } from "../store";

export function FindRow() {
  const text = useSignal("");
  const problem = useSignal("");
  const find = (event: Event) => {
    event.preventDefault();
    const wanted = text.value.trim().toLowerCase();
    if (!wanted) return;
    let begins = -1;
    for (let i = 0; i < rowCount; i++) {
      const name = rowName(i).toLowerCase();
      if (name === wanted || name === `row ${wanted}`) return found(i);
      if (begins < 0 && name.includes(wanted)) begins = i;
    }
    if (begins >= 0) return found(begins);
    problem.value = "no such row";
    said.value = `No row has ${wanted} in its name`;
  };
  const found = (i: number) => {
    problem.value = "";
    row.value = i;
    said.value = `${rowName(i)} is shown`;
  };
  return (
    <form class="find" onSubmit={find} role="search">
      <label>
        find a row
        <input type="search" size={12} value={text.value} onInput={(e) => (text.value = e.currentTarget.value)} />
      </label>
      {problem.value && <span class="problem">{problem.value}</span>}
    </form>
  );
}

/** Choices: components first, then the columns of colours. */
export function SelectRows() {
  const which = useSignal(0);
  const level = useSignal(0);
  const from = useSignal("");
  const to = useSignal("");
  const colours = page.rows!.colours;
  const axes = page.axes.length;
  const colour = which.value >= axes ? colours[which.value - axes] : null;
  const choose = (event: Event) => {
    event.preventDefault();
    if (colour?.kind === "group") {
      const codes = whole(colour.codes!);
      select(Uint8Array.from(codes, (c) => (c === level.value ? 1 : 0)), `${short(colour.name, 30)} is ${short(colour.levels![level.value], 40)}`);
      return;
    }
    const lo = from.value === "" ? -Infinity : Number(from.value);
    const hi = to.value === "" ? Infinity : Number(to.value);
    const given = colour ? numbers(colour.numbers!) : scores()[which.value];
    const words = `${colour ? short(colour.name, 30) : page.axes[which.value]} from ${from.value || "the least"} to ${to.value || "the largest"}`;
    select(Uint8Array.from(given, (v) => (v >= lo && v <= hi ? 1 : 0)), words);
  };
  return (
    <details class="select-rows">
      <summary>Select rows by value</summary>
      <form onSubmit={choose}>
        <label>
          by
          <select value={which.value} onChange={(e) => (which.value = Number(e.currentTarget.value))}>
            {[...page.axes, ...colours.map((one) => one.name)].map((name, i) => (
              <option key={i} value={i}>
                {short(name, 30)}
              </option>
            ))}
          </select>
        </label>
        {colour?.kind === "group" ? (
          <label>
            group
            <select value={level.value} onChange={(e) => (level.value = Number(e.currentTarget.value))}>
              {colour.levels!.map((name, i) => (
                <option key={i} value={i}>
                  {short(name, 40)}
                </option>
              ))}
            </select>
          </label>
        ) : (
          <>
            <label>
              from
              <input type="number" step="any" size={6} value={from.value} onInput={(e) => (from.value = e.currentTarget.value)} />
            </label>
            <label>
              to
              <input type="number" step="any" size={6} value={to.value} onInput={(e) => (to.value = e.currentTarget.value)} />
            </label>
          </>
        )}
        <button type="submit">Select</button>
        <span class="note">of {count(rowCount)} rows</span>
      </form>
    </details>
  );
}
