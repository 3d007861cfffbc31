// A picture before and after, with a line between them that can be moved.
import { useState } from "preact/hooks";
import { Choice } from "../charts/choice";
import { count, fixed, percent, plain } from "../format";

interface Pictures {
  before: string;
  after: string;
  clean: string | null;
  doubt: string;
  doubtMost: number | null;
  height: number;
  width: number;
  psnrBefore: number | null;
  psnr: number | null;
  filled: number;
}

type View = "wipe" | "both" | "doubt";

const VIEWS = [
  { value: "wipe", text: "wipe" },
  { value: "both", text: "side by side" },
  { value: "doubt", text: "how unsure each pixel is" },
] as const;

export function PicturesSection(props: { data: Record<string, unknown> }) {
  const data = props.data as unknown as Pictures;
  const [view, setView] = useState<View>("wipe");
  const [at, setAt] = useState(50);
  const size = { width: data.width, height: data.height };
  return (
    <div class="restored">
      <p class="lead">{sentence(data)}</p>
      <div class="controls">
        <Choice label="Show" options={VIEWS} value={view} onChange={setView} />
      </div>
      {view === "wipe" && (
        <div class="wipe" style={{ "--at": `${at}%`, maxWidth: `${Math.max(data.width, 240) * 1.5}px` }}>
          <div class="wipe-frame" style={{ aspectRatio: `${data.width} / ${data.height}` }}>
            <img src={data.after} alt="after" {...size} />
            <img class="upper" src={data.before} alt="before" {...size} />
            <span class="wipe-line" aria-hidden="true" />
          </div>
          <label class="wipe-slider">
            <span>before</span>
            <input
              type="range"
              min="0"
              max="100"
              value={at}
              aria-label="Share of the picture that is shown before"
              onInput={(event) => setAt(Number((event.currentTarget as HTMLInputElement).value))}
            />
            <span>after</span>
          </label>
        </div>
      )}
      {view === "both" && (
        <div class="two">
          <Shown src={data.before} text="before" size={size} />
          <Shown src={data.after} text="after" size={size} />
          {data.clean && <Shown src={data.clean} text="the true picture" size={size} />}
        </div>
      )}
      {view === "doubt" && (
        <Shown
          src={data.doubt}
          text={`standard deviation of each pixel: black is 0, white is ${data.doubtMost === null ? "the most" : plain(data.doubtMost, 3)} or more`}
          size={size}
        />
      )}
    </div>
  );
}

function sentence(data: Pictures): string {
  const pixels = data.width * data.height;
  const filled = data.filled > 0 ? `${count(data.filled)} of ${count(pixels)} pixels (${percent(data.filled / pixels)}) were missing. ` : "";
  if (data.psnr === null) return `${filled}Nothing was given to compare the result with.`;
  const before = data.psnrBefore === null ? "" : ` (${fixed(data.psnrBefore, 2)} dB before)`;
  return `${filled}Against the true picture: ${fixed(data.psnr, 2)} dB${before}; more is nearer, and a person hardly sees errors above 40.`;
}

function Shown(props: { src: string; text: string; size: { width: number; height: number } }) {
  return (
    <figure>
      <img src={props.src} alt={props.text} {...props.size} />
      <figcaption>{props.text}</figcaption>
    </figure>
  );
}
