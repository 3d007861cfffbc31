// A cloud of points on a canvas, with axes and marks in SVG above it: pan, zoom, pinch, hover, click, lasso.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { AxisBottom, AxisLeft, type Box, box, useWidth } from "../charts/frame";
import { type Scale, linear } from "../charts/scale";
import { onPaper, theme } from "../store";
import { useHands } from "./hands";
import { paint, pointOpacity, pointRadius, shuffled } from "./raster";
import { type View, alike, moved, whole, zoomed } from "./view";

export interface CloudProps {
  x: Float32Array;
  y: Float32Array;
  codes: Uint16Array;
  palette: string[];
  mask: Uint8Array | null;
  label: string;
  xLabel: string;
  yLabel: string;
  /** Whether one unit should be as long on both axes where that does not waste the plot. */
  sameUnit?: boolean;
  hideY?: boolean;
  lasso?: boolean;
  /** The view that is shown at first, where it is not all points. */
  home?: View;
  /** Marks above the points. */
  over?: (sx: Scale, sy: Scale, box: Box) => ComponentChildren;
  onHover?: (row: number, x: number, y: number) => void;
  onPick?: (row: number) => void;
  onLasso?: (mask: Uint8Array) => void;
  children?: ComponentChildren;
}

const PAPER = { light: "#ffffff", dark: "#181b20" };

export function Cloud(props: CloudProps) {
  const [holder, width] = useWidth();
  const height = props.hideY ? 240 : Math.round(Math.min(width * (width < 500 ? 0.95 : 0.68), 560));
  const b = box(width, height, { left: props.hideY ? 12 : 46, bottom: 44, top: 38, right: 10 });
  const [plotW, plotH] = [b.width - b.left - b.right, b.height - b.top - b.bottom];
  const { x, y } = props;
  const equal = (props.sameUnit ?? false) && alike(x, y);
  const all = useMemo(() => props.home ?? whole(x, y, equal, plotW / plotH), [x, y, equal, plotW, plotH, props.home]);
  const [wish, setWish] = useState<{ of: View; view: View } | null>(null);
  const view = wish && wish.of === all ? wish.view : all;
  const show = (next: View) => setWish({ of: all, view: next });
  const sx = linear(view.x, [b.left, b.width - b.right]);
  const sy = linear(view.y, [b.height - b.bottom, b.top]);
  const canvas = useRef<HTMLCanvasElement>(null);
  const order = useMemo(() => shuffled(x.length), [x.length]);

  useLayoutEffect(() => {
    if (canvas.current) draw(canvas.current, props, order, sx, sy, b);
  }, [view, x, y, props.codes, props.palette, props.mask, width, height, theme.value, onPaper.value]);

  const hands = useHands({ props, sx, sy, view, show });
  const zoom = (factor: number) => show(zoomed(view, factor, sx.invert(b.left + plotW / 2), sy.invert(b.top + plotH / 2)));
  const keys = (event: KeyboardEvent) => {
    const [w, h] = [view.x[1] - view.x[0], view.y[1] - view.y[0]];
    const does: Record<string, () => void> = {
      "+": () => zoom(1.3),
      "=": () => zoom(1.3),
      "-": () => zoom(1 / 1.3),
      "0": () => setWish(null),
      ArrowLeft: () => show(moved(view, -w / 10, 0)),
      ArrowRight: () => show(moved(view, w / 10, 0)),
      ArrowUp: () => show(moved(view, 0, h / 10)),
      ArrowDown: () => show(moved(view, 0, -h / 10)),
    };
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : does[event.key];
    if (act && event.target === event.currentTarget) (event.preventDefault(), act());
  };
  return (
    <div class="cloud" ref={holder}>
      <div
        class={`plot ${props.lasso ? "lassoing" : ""} ${view === all ? "" : "zoomed"}`}
        style={{ width: `${width}px`, height: `${height}px` }}
        ref={hands.surface}
        tabIndex={0}
        role="group"
        aria-label={`${props.label} Arrow keys move, plus and minus zoom, 0 shows all.`}
        onKeyDown={keys}
        {...hands.on}
      >
        <canvas ref={canvas} style={{ left: `${b.left}px`, top: `${b.top}px`, width: `${plotW}px`, height: `${plotH}px` }} aria-hidden="true" />
        <svg width={width} height={height} aria-hidden="true">
          {!props.hideY && <AxisLeft scale={sy} box={b} label={props.yLabel} about={plotH / 80} />}
          <AxisBottom scale={sx} box={b} label={props.xLabel} />
          <svg x={b.left} y={b.top} width={plotW} height={plotH} viewBox={`${b.left} ${b.top} ${plotW} ${plotH}`}>
            {props.over?.(sx, sy, b)}
          </svg>
          {hands.trail.length > 1 && <polygon class="lasso" points={hands.trail.map((p) => p.join(",")).join(" ")} />}
        </svg>
        {props.children}
      </div>
      <div class="zoom" role="group" aria-label="Zoom">
        <button type="button" aria-label="Zoom in" onClick={() => zoom(1.5)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" onClick={() => zoom(1 / 1.5)}>
          −
        </button>
        <button type="button" aria-label="Show all" disabled={view === all} onClick={() => setWish(null)}>
          ⤢
        </button>
      </div>
    </div>
  );
}

/** Points on the canvas; on paper in twice the resolution. The time it took is a measure named "lowdim-draw". */
function draw(canvas: HTMLCanvasElement, props: CloudProps, order: Uint32Array, sx: Scale, sy: Scale, b: Box): void {
  const dense = onPaper.value ? 2 : Math.min(devicePixelRatio || 1, 2);
  const [w, h] = [Math.round((b.width - b.left - b.right) * dense), Math.round((b.height - b.top - b.bottom) * dense)];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const context = canvas.getContext("2d");
  if (!context || w < 1 || h < 1) return;
  const start = performance.now();
  const image = context.createImageData(w, h);
  const n = props.x.length;
  paint(image, {
    x: props.x,
    y: props.y,
    scaleX: (sx(1) - sx(0)) * dense,
    offsetX: (sx(0) - b.left) * dense,
    scaleY: (sy(1) - sy(0)) * dense,
    offsetY: (sy(0) - b.top) * dense,
    codes: props.codes,
    palette: props.palette,
    background: PAPER[theme.value],
    radius: pointRadius(n) * dense,
    opacity: pointOpacity(n),
    mask: props.mask,
    order,
  });
  context.putImageData(image, 0, 0);
  performance.clearMeasures("lowdim-draw");
  performance.measure("lowdim-draw", { start });
}
