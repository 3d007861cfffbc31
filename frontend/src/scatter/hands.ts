// What fingers, mouse and wheel do to a cloud of points.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Scale } from "../charts/scale";
import type { CloudProps } from "./cloud";
import { inside, nearest } from "./nearest";
import { type View, moved, zoomed } from "./view";

export interface Hands {
  props: Pick<CloudProps, "x" | "y" | "lasso" | "onHover" | "onPick" | "onLasso">;
  sx: Scale;
  sy: Scale;
  view: View;
  show: (view: View) => void;
}

type Place = [number, number];

/** What fingers, mouse and wheel do. */
export function useHands(now: Hands) {
  const latest = useRef(now);
  latest.current = now;
  const surface = useRef<HTMLDivElement>(null);
  const down = useRef(new Map<number, Place>());
  const moving = useRef<{ from: Place; far: boolean }>({ from: [0, 0], far: false });
  const [trail, setTrail] = useState<Place[]>([]);
  const drawn = useRef<Place[]>([]);

  const place = (event: { clientX: number; clientY: number }): Place => {
    const rect = surface.current!.getBoundingClientRect();
    return [event.clientX - rect.left, event.clientY - rect.top];
  };

  useEffect(() => {
    const element = surface.current!;
    const wheel = (event: WheelEvent) => {
      // without a key or a click first, the wheel scrolls the page as everywhere else
      if (!(event.ctrlKey || event.metaKey || document.activeElement === element)) return;
      event.preventDefault();
      const { view, sx, sy, show } = latest.current;
      const [px, py] = place(event);
      show(zoomed(view, Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), sx.invert(px), sy.invert(py)));
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, []);

  const pointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const at = place(event);
    surface.current!.setPointerCapture(event.pointerId);
    down.current.set(event.pointerId, at);
    moving.current = { from: at, far: down.current.size > 1 };
    if (latest.current.props.lasso && down.current.size === 1) drawn.current = [at];
  };

  const pointerMove = (event: PointerEvent) => {
    const { props, sx, sy, view, show } = latest.current;
    const at = place(event);
    const before = down.current.get(event.pointerId);
    if (!before) {
      props.onHover?.(nearest(props.x, props.y, sx, sy, ...at), ...at);
      return;
    }
    if (Math.hypot(at[0] - moving.current.from[0], at[1] - moving.current.from[1]) > 4) moving.current.far = true;
    down.current.set(event.pointerId, at);
    if (down.current.size === 2) {
      const other = [...down.current].find(([id]) => id !== event.pointerId)![1];
      const factor = distance(at, other) / Math.max(distance(before, other), 1);
      show(zoomed(view, factor, sx.invert((at[0] + other[0]) / 2), sy.invert((at[1] + other[1]) / 2)));
    } else if (props.lasso) {
      drawn.current = [...drawn.current, at];
      setTrail(drawn.current);
    } else if (moving.current.far) {
      props.onHover?.(-1, 0, 0);
      show(moved(view, sx.invert(before[0]) - sx.invert(at[0]), sy.invert(before[1]) - sy.invert(at[1])));
    }
  };

  const pointerUp = (event: PointerEvent) => {
    if (!down.current.delete(event.pointerId)) return;
    const { props, sx, sy } = latest.current;
    const polygon = drawn.current;
    drawn.current = [];
    setTrail([]);
    if (event.type === "pointercancel") return;
    if (!moving.current.far) props.onPick?.(nearest(props.x, props.y, sx, sy, ...place(event), 18));
    else if (props.lasso && polygon.length > 2) props.onLasso?.(inside(props.x, props.y, sx, sy, polygon));
  };

  return {
    surface,
    trail,
    on: {
      onPointerDown: pointerDown,
      onPointerMove: pointerMove,
      onPointerUp: pointerUp,
      onPointerCancel: pointerUp,
      onPointerLeave: () => latest.current.props.onHover?.(-1, 0, 0),
    },
  };
}

function distance(a: Place, b: Place): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}
