// How many components: shares as bars with a handle to drag, shares added up, and what the rules say.
import { useRef } from "preact/hooks";
import { AxisBottom, AxisLeft, type Box, Svg, box, useWidth } from "../charts/frame";
import { type Scale, linear } from "../charts/scale";
import { AsTable } from "../charts/table";
import { cumulative, shares } from "../data";
import { count, percent } from "../format";
import type { Rule } from "../payload";
import { k, mostK, page, setK } from "../store";
import { Panel } from "./panel";
import { Rules } from "./rules";

/** Room above both charts: for the marks of rules, where there are some. */
const TOP = page.spectrum && page.spectrum.rules.length > 0 ? 60 : 36;

export function SpectrumPanel() {
  const spectrum = page.spectrum!;
  const known = shares();
  const sums = cumulative();
  const word = k.value === 1 ? "component holds" : "components hold";
  return (
    <Panel id="components" title="How many components?">
      <p class="headline" aria-live="polite">
        {count(k.value)} {word} <b>{percent(sums[k.value])}</b> of the {spectrum.what}
        {sums[k.value] < 1 - 1e-9 && <span class="muted">; {percent(1 - sums[k.value])} is left out</span>}
      </p>
      <div class="pair">
        <Scree rules={spectrum.rules} what={spectrum.what} />
        <Cumulative what={spectrum.what} />
      </div>
      <AsTable
        caption={`Share of the ${spectrum.what} of each component`}
        head={["component", "share", "added up", ""]}
        rows={Array.from(known, (share, i) => [
          page.axes[i] ?? `PC${i + 1}`,
          percent(share),
          percent(sums[i + 1]),
          i < mostK ? "" : "not kept",
        ])}
      />
      {spectrum.rules.length > 0 && <Rules rules={spectrum.rules} verdict={spectrum.verdict} />}
    </Panel>
  );
}

/** Numbers under the bars: each of few, some of many. */
function numbered(m: number, room: number): number[] {
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((s) => (m / s) * 28 < room) ?? 1000;
  return Array.from({ length: m }, (_, i) => i + 1).filter((i) => (step === 1 ? true : i === 1 || i % step === 0));
}

function Scree(props: { rules: Rule[]; what: string }) {
  const [holder, width] = useWidth(520);
  const known = shares();
  const m = known.length;
  const marks = byNumber(props.rules, m);
  const b = box(width, 290, { top: TOP, bottom: 44, left: 46, right: 24 });
  const x = linear([0.5, m + 0.5], [b.left, b.width - b.right]);
  const y = linear([0, Math.max(...known, 1e-9) * 1.04], [b.height - b.bottom, b.top]);
  const step = x(2) - x(1);
  const thick = Math.max(1, Math.min(step * 0.72, 46));
  return (
    <div ref={holder} class="scree">
      <Svg box={b} label={`Share of the ${props.what} of each of ${m} components; the first has ${percent(known[0])}.`}>
        <AxisLeft scale={y} box={b} text={(v) => `${Number((v * 100).toPrecision(3))} %`} label="share of each" />
        {Array.from(known, (share, i) => (
          <rect
            key={i}
            class={i < k.value ? "share in" : i < mostK ? "share" : "share beyond"}
            x={x(i + 1) - thick / 2}
            width={thick}
            y={y(share)}
            height={Math.max(0.5, b.height - b.bottom - y(share))}
          />
        ))}
        <AxisBottom scale={x} box={b} at={numbered(m, b.width - b.left)} text={String} label="component" />
        {marks.map(([at, rules]) => (
          <g key={at} class={rules.some((rule) => rule.sound) ? "rule" : "rule unsound"}>
            <title>{`${rules.map((rule) => rule.title).join(", ")}: ${at}`}</title>
            <path d={`M${x(at)} ${b.top - 4}l-5 -8h10z`} />
            {rules.length > 1 && (
              <text x={x(at)} y={b.top - 16} text-anchor="middle">
                {rules.length}
              </text>
            )}
          </g>
        ))}
      </Svg>
      <Handle x={x} box={b} />
      <p class="note">
        {mostK > 1 && "Drag the line, or use the arrow keys; everything below follows. "}
        {marks.length > 0 && "Triangles are what the rules below advise, hollow where a check contradicts one; numbers count rules that agree."}
      </p>
    </div>
  );
}

/** Rules by their number, as far as the chart goes. */
function byNumber(rules: Rule[], m: number): [number, Rule[]][] {
  const found = new Map<number, Rule[]>();
  for (const rule of rules) {
    if (rule.k !== null && rule.k >= 1 && rule.k <= m) found.set(rule.k, [...(found.get(rule.k) ?? []), rule]);
  }
  return [...found].sort((a, b) => a[0] - b[0]);
}

/** The line behind the last component looked at. */
function Handle(props: { x: Scale; box: Box }) {
  const { x, box: b } = props;
  const dragging = useRef(false);
  if (mostK < 2) return null;
  const move = (event: PointerEvent) => {
    const parent = (event.currentTarget as HTMLElement).parentElement!.getBoundingClientRect();
    if (dragging.current) setK(x.invert(event.clientX - parent.left) - 0.5);
  };
  const keys = (event: KeyboardEvent) => {
    const to: Record<string, number> = {
      ArrowLeft: k.value - 1,
      ArrowDown: k.value - 1,
      ArrowRight: k.value + 1,
      ArrowUp: k.value + 1,
      PageDown: k.value - 10,
      PageUp: k.value + 10,
      Home: 1,
      End: mostK,
    };
    if (event.key in to) (event.preventDefault(), setK(to[event.key]));
  };
  return (
    <div
      class="handle"
      role="slider"
      tabIndex={0}
      aria-label="Number of components"
      aria-valuemin={1}
      aria-valuemax={mostK}
      aria-valuenow={k.value}
      aria-valuetext={`${k.value} of ${mostK}, ${percent(cumulative()[k.value])} of the ${page.spectrum?.what}`}
      style={{ left: `${x(k.value + 0.5)}px`, top: `${b.top - 14}px`, height: `${b.height - b.top - b.bottom + 14}px` }}
      onKeyDown={keys}
      onPointerDown={(event) => {
        dragging.current = true;
        (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
      }}
      onPointerMove={move}
      onPointerUp={() => (dragging.current = false)}
      onPointerCancel={() => (dragging.current = false)}
    >
      <span class="grip">{k.value}</span>
    </div>
  );
}

function Cumulative(props: { what: string }) {
  const [holder, width] = useWidth(420);
  const sums = cumulative();
  const m = sums.length - 1;
  const b = box(width, 290, { top: TOP, bottom: 44, left: 50 });
  const x = linear([0, m], [b.left, b.width - b.right]);
  const y = linear([0, 1], [b.height - b.bottom, b.top]);
  const line = sums.map((sum, i) => `${i === 0 ? "M" : "L"}${x(i).toFixed(1)} ${y(Math.min(sum, 1)).toFixed(1)}`).join("");
  const kept = sums.slice(0, k.value + 1).map((sum, i) => `L${x(i).toFixed(1)} ${y(Math.min(sum, 1)).toFixed(1)}`);
  const at: [number, number] = [x(k.value), y(Math.min(sums[k.value], 1))];
  const left = at[0] > b.width - 110;
  return (
    <div ref={holder}>
      <Svg box={b} label={`Shares added up: ${k.value} components hold ${percent(sums[k.value])} of the ${props.what}.`}>
        <AxisLeft scale={y} box={b} text={(v) => `${Math.round(v * 100)} %`} label="added up" about={5} />
        <path class="area" d={`M${x(0)} ${y(0)}${kept.join("")}L${x(k.value)} ${y(0)}Z`} />
        <path class="curve" d={line} />
        <AxisBottom scale={x} box={b} at={[0, ...numbered(m, b.width - b.left).filter((i, _, all) => i > 1 || all[2] === 3)]} text={String} label="number of components" />
        <circle class="dot" cx={at[0]} cy={at[1]} r="5" />
        <text class="value" x={at[0] + (left ? -10 : 10)} y={at[1] + (left ? -10 : 18)} text-anchor={left ? "end" : "start"}>
          {percent(sums[k.value])}
        </text>
      </Svg>
    </div>
  );
}
