// The frame that every SVG chart stands in: a title for readers of the page aloud, axes, and room for marks.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { plain } from "../format";
import { type Scale, ticks } from "./scale";

export interface Box {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** A box of the given size with room for axes. */
export function box(width: number, height: number, margins: Partial<Box> = {}): Box {
  return { left: 48, right: 12, top: 12, bottom: 34, ...margins, width, height };
}

/** Width of an element, followed as it changes. */
export function useWidth(fallback = 640): [{ current: HTMLDivElement | null }, number] {
  const holder = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(fallback);
  useEffect(() => {
    const element = holder.current;
    if (!element) return;
    const measure = () => setWidth(Math.max(220, Math.round(element.clientWidth)));
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  return [holder, width];
}

export function Svg(props: { box: Box; label: string; children: ComponentChildren; class?: string }) {
  const { width, height } = props.box;
  return (
    <svg class={`chart ${props.class ?? ""}`} viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img" aria-label={props.label}>
      {props.children}
    </svg>
  );
}

export function AxisBottom(props: { scale: Scale; box: Box; label?: string; at?: number[]; text?: (value: number) => string }) {
  const { scale, box: b } = props;
  const y = b.height - b.bottom;
  const shown = props.at ?? ticks(scale.domain, Math.max(2, (b.width - b.left - b.right) / 90));
  const text = props.text ?? ((value: number) => plain(value, 3));
  return (
    <g class="axis">
      <line x1={b.left} x2={b.width - b.right} y1={y} y2={y} />
      {shown.map((value) => (
        <text key={value} x={scale(value)} y={y + 16} text-anchor="middle">
          {text(value)}
        </text>
      ))}
      {props.label && (
        <text class="axis-label" x={(b.left + b.width - b.right) / 2} y={b.height - 2} text-anchor="middle">
          {props.label}
        </text>
      )}
    </g>
  );
}

export function AxisLeft(props: { scale: Scale; box: Box; label?: string; text?: (value: number) => string; about?: number }) {
  const { scale, box: b } = props;
  const text = props.text ?? ((value: number) => plain(value, 3));
  return (
    <g class="axis">
      {ticks(scale.domain, props.about ?? 4).map((value) => (
        <g key={value}>
          <line class="grid" x1={b.left} x2={b.width - b.right} y1={scale(value)} y2={scale(value)} />
          <text x={b.left - 8} y={scale(value) + 4} text-anchor="end">
            {text(value)}
          </text>
        </g>
      ))}
      {props.label && (
        <text class="axis-label" x={0} y={12} text-anchor="start">
          {props.label}
        </text>
      )}
    </g>
  );
}
