// The rows in the plane of two components.
import { useComputed, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { columnNames, loadings, rowCount, scores, shares } from "../data";
import { count, percent, plain, short } from "../format";
import { Cloud } from "../scatter/cloud";
import { type Colouring, colouring } from "../scatter/colours";
import { ellipses } from "../scatter/ellipse";
import { Arrows, Names, Outlines, Ring, arrowFactor } from "../scatter/marks";
import { axisX, axisY, colouredBy, mostK, page, row, select, selection } from "../store";
import { Apart } from "./apart";
import { Card } from "./card";
import { Legend } from "./legend";
import { Panel } from "./panel";
import { FindRow, SelectRows } from "./picking";

const NAMED = 60;

export function axisLabel(axis: number): string {
  const share = shares()[axis];
  return share === undefined ? page.axes[axis] : `${page.axes[axis]} · ${percent(share)}`;
}

/** Heights that keep points on a line apart: fixed, and without a meaning. */
function spreadOut(n: number): Float32Array {
  return Float32Array.from({ length: n }, (_, i) => ((i * 0.618034) % 1) - 0.5);
}

export function MapPanel() {
  const one = mostK === 1;
  const x = scores()[axisX.value];
  const y = useMemo(() => (one ? spreadOut(rowCount) : scores()[axisY.value]), [one, axisY.value]);
  const colours = useComputed(() => colouring(colouredBy.value)).value;
  const arrows = useSignal(false);
  // shares of parts and topics are far from normal
  const circles = useSignal(page.spectrum !== null);
  const lasso = useSignal(false);
  const hover = useSignal<{ row: number; x: number; y: number } | null>(null);
  const groups = Math.min(colours.levels.length, 7);
  const rings = useMemo(
    () => (circles.value && !one && colours.kind === "group" ? ellipses(x, y, colours.codes, groups) : []),
    [circles.value, x, y, colours],
  );
  const factor = arrows.value ? arrowFactor(x, y, axisX.value, axisY.value) : 0;
  const shown = hover.value?.row ?? row.value;
  const total = page.rows!.total;
  return (
    <Panel
      id="map"
      title="The rows on a map"
      lead={
        one
          ? "Each point is a row, placed along the one component; heights only keep points apart."
          : "Each point is a row. Rows that lie close together are alike in what these two components see."
      }
    >
      {total > rowCount && (
        <p class="note">
          A random sample of {count(rowCount)} of the {count(total)} rows is shown.
        </p>
      )}
      <Controls one={one} arrows={arrows} circles={circles} lasso={lasso} colours={colours} />
      <div class="map">
        <div>
          <Cloud
            x={x}
            y={y}
            codes={colours.codes}
            palette={colours.palette}
            mask={selection.value?.mask ?? null}
            label={`Map of ${count(rowCount)} rows.`}
            xLabel={axisLabel(axisX.value)}
            yLabel={axisLabel(axisY.value)}
            sameUnit
            hideY={one}
            lasso={lasso.value}
            onHover={(i, px, py) => (hover.value = i < 0 ? null : { row: i, x: px, y: py })}
            onPick={(i) => {
              row.value = i < 0 ? null : i;
              hover.value = null;
            }}
            onLasso={(mask) => {
              select(mask, "by the lasso");
              lasso.value = false;
            }}
            over={(sx, sy, b) => (
              <>
                <Outlines rings={rings} palette={colours.palette} sx={sx} sy={sy} />
                {factor > 0 && <Arrows factor={factor} sx={sx} sy={sy} box={b} />}
                {!one && <Names x={x} y={y} rows={rowCount <= NAMED} factor={factor} sx={sx} sy={sy} box={b} />}
                {shown !== null && <Ring x={sx(x[shown])} y={sy(y[shown])} />}
              </>
            )}
          >
            {hover.value && <Floating at={hover.value} colours={colours} />}
          </Cloud>
          {factor > 0 && (
            <p class="note">
              Arrows: entries of the components (rows U S, columns V; Gabriel 1971), drawn {plain(factor, 2)} times as long. Distances between rows
              are true; a row far along an arrow is high in that column.
            </p>
          )}
          {rings.length > 0 && <p class="note">Ellipses hold two thirds of a group, if it is normally distributed.</p>}
        </div>
        <aside aria-label="About the rows">
          <Legend colours={colours} />
          {row.value !== null ? <Card row={row.value} colours={colours} pinned /> : <p class="note">Point at a row to see its values; click to keep it.</p>}
        </aside>
      </div>
      <Apart />
    </Panel>
  );
}

/** The card beside the pointer, kept inside the plot. */
function Floating(props: { at: { row: number; x: number; y: number }; colours: Colouring }) {
  const { x, y, row: i } = props.at;
  return (
    <div class="floating" data-side={x > 320 ? "left" : "right"} style={{ left: `${x}px`, top: `${y}px` }}>
      <Card row={i} colours={props.colours} />
    </div>
  );
}

function Controls(props: { one: boolean; arrows: { value: boolean }; circles: { value: boolean }; lasso: { value: boolean }; colours: Colouring }) {
  const axes = page.axes.map((name, i) => (
    <option key={i} value={i}>
      {short(name, 24)}
    </option>
  ));
  const colours = page.rows!.colours;
  return (
    <div class="controls">
      {mostK > 2 && (
        <>
          <label>
            across
            <select value={axisX.value} onChange={(e) => (axisX.value = Number(e.currentTarget.value))}>
              {axes}
            </select>
          </label>
          <label>
            up
            <select value={axisY.value} onChange={(e) => (axisY.value = Number(e.currentTarget.value))}>
              {axes}
            </select>
          </label>
        </>
      )}
      {colours.length > 0 && (
        <label>
          colour
          <select value={colouredBy.value} onChange={(e) => (colouredBy.value = Number(e.currentTarget.value))}>
            <option value={-1}>none</option>
            {colours.map((one, i) => (
              <option key={i} value={i}>
                {short(one.name, 30)}
              </option>
            ))}
          </select>
        </label>
      )}
      {!props.one && props.colours.kind === "group" && (
        <label class="check">
          <input type="checkbox" checked={props.circles.value} onChange={(e) => (props.circles.value = e.currentTarget.checked)} />
          ellipses
        </label>
      )}
      {!props.one && loadings() && columnNames.length > 0 && (
        <label class="check">
          <input type="checkbox" checked={props.arrows.value} onChange={(e) => (props.arrows.value = e.currentTarget.checked)} />
          arrows of columns
        </label>
      )}
      <button type="button" class="toggle" aria-pressed={props.lasso.value} onClick={() => (props.lasso.value = !props.lasso.value)}>
        Lasso
      </button>
      <FindRow />
      <SelectRows />
    </div>
  );
}

