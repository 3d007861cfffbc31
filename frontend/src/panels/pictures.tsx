// Rows that are pictures: the row, what K components make of it, what is left over, and the components themselves.
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { extent } from "../charts/scale";
import { fromScores, loadings, mean, rebuilt, scoreDeviations, shares, valuesOf } from "../data";
import { count, percent } from "../format";
import { k, onPaper, page, theme } from "../store";
import { rgb } from "../scatter/colours";
import { kept } from "./rebuild";

const MOST = 16;

/** Grey or RGB values of a picture, between black and white. */
function grey(values: ArrayLike<number>, [lo, hi]: [number, number]): (pixel: number, channel: number) => number {
  const channels = page.picture![2] ?? 1;
  return (pixel, channel) => ((values[pixel * channels + (channels === 1 ? 0 : channel)] - lo) / (hi - lo || 1)) * 255;
}

/** Signed values: blue above zero, orange below, as elsewhere on the page. */
function diverging(values: ArrayLike<number>, most: number): (pixel: number, channel: number) => number {
  const channels = page.picture![2] ?? 1;
  const dark = theme.value === "dark";
  const [zero, up, down] = [rgb(dark ? "#181b20" : "#ffffff"), rgb(dark ? "#6cb2f0" : "#0b62a8"), rgb(dark ? "#f0975a" : "#c2560c")];
  return (pixel, channel) => {
    let v = 0;
    for (let c = 0; c < channels; c++) v += values[pixel * channels + c] / channels;
    const share = Math.min(1, Math.abs(v) / (most || 1));
    const end = v < 0 ? down : up;
    return zero[channel] + (end[channel] - zero[channel]) * share;
  };
}

function Picture(props: { label?: string; paint: (pixel: number, channel: number) => number; small?: boolean }) {
  const [height, width] = page.picture!;
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context) return;
    const image = context.createImageData(width, height);
    for (let i = 0; i < width * height; i++) {
      for (let c = 0; c < 3; c++) image.data[4 * i + c] = props.paint(i, c);
      image.data[4 * i + 3] = 255;
    }
    context.putImageData(image, 0, 0);
  }, [props.paint, theme.value, onPaper.value]);
  return <canvas class={`picture ${props.small ? "small" : ""} ${width < 200 ? "pixels" : ""}`} ref={canvas} width={width} height={height} {...(props.label ? { role: "img", "aria-label": props.label } : { "aria-hidden": true })} />;
}

/** A row as the picture that it is, where the page holds it. */
export function RowPicture(props: { row: number }) {
  const own = valuesOf(props.row);
  return own && <Picture small label="The row as a picture" paint={grey(own, extent(own))} />;
}

export function RowPictures(props: { row: number }) {
  const own = valuesOf(props.row)!;
  const told = rebuilt(props.row, k.value);
  const range = extent(own);
  const left = Float32Array.from(own, (v, j) => v - told[j]);
  const share = kept(own, told);
  return (
    <>
      <div class="pictures three">
        <figure>
          <Picture label="The picture as it is" paint={grey(own, range)} />
          <figcaption>as it is</figcaption>
        </figure>
        <figure>
          <Picture label={`The picture from ${k.value} components`} paint={grey(told, range)} />
          <figcaption aria-live="polite">
            {count(k.value)} component{k.value === 1 ? "" : "s"}
            {share > 0 && ` · ${percent(share)}`}
          </figcaption>
        </figure>
        <figure>
          <Picture label="What is left over" paint={diverging(left, (range[1] - range[0]) / 1.5)} />
          <figcaption>left over</figcaption>
        </figure>
      </div>
      <p class="note">The percentage: how much of the picture's squared distance from the mean picture comes back.</p>
    </>
  );
}

export function ComponentPictures() {
  const chosen = useSignal(0);
  const table = loadings()!;
  const axes = Math.min(k.value, MOST);
  const axis = Math.min(chosen.value, axes - 1);
  const sd = scoreDeviations()[axis] || 1;
  const centre = mean();
  const range = extent(centre);
  const wide: [number, number] = [Math.min(range[0], 0), range[1] * 1.15];
  return (
    <div class="components">
      <div class="pictures tiles">
        {Array.from({ length: axes }, (_, a) => {
          const entries = table.data.subarray(a * table.cols, (a + 1) * table.cols);
          return (
            <button type="button" key={a} class="tile" aria-pressed={a === axis} onClick={() => (chosen.value = a)}>
              <Picture small paint={diverging(entries, Math.max(...extent(entries).map(Math.abs)))} />
              <span>
                {page.axes[a]}
                {shares()[a] !== undefined && <small>{percent(shares()[a])}</small>}
              </span>
            </button>
          );
        })}
      </div>
      {k.value > MOST && <p class="note">The first {MOST} of {count(k.value)} components. Blue pixels get brighter along a component, orange ones darker.</p>}
      {k.value <= MOST && <p class="note">Blue pixels get brighter along a component, orange ones darker.</p>}
      <h3>From less to more of {page.axes[axis]}</h3>
      <div class="pictures">
        {[-3, -1.5, 0, 1.5, 3].map((steps) => (
          <figure key={steps}>
            <Picture small label={`Mean picture ${steps} standard deviations along ${page.axes[axis]}`} paint={grey(fromScores((a) => (a === axis ? steps * sd : 0), axis + 1), wide)} />
            <figcaption>{steps === 0 ? "the mean" : `${steps > 0 ? "+" : "−"}${Math.abs(steps)} sd`}</figcaption>
          </figure>
        ))}
      </div>
    </div>
  );
}
