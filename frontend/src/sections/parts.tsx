// Parts that rows are made of, or groups of rows: cards with pictures, or with the columns that stand out.
import { useState } from "preact/hooks";
import { BarTable } from "../charts/bars";
import { Choice } from "../charts/choice";
import { count, fixed, percent, plain } from "../format";

interface Part {
  name: string;
  share: number | null;
  sparseness?: number | null;
  stability?: number | null;
  noise?: number | null;
  picture: string | null;
  columns: string[];
  values: number[];
}

interface Parts {
  noun: string;
  what: string;
  parts: Part[];
  more: number;
  signed: boolean;
  note?: string;
}

type Order = "share" | "sparseness" | "stability";

export function PartsSection(props: { data: Record<string, unknown> }) {
  const data = props.data as unknown as Parts;
  const [order, setOrder] = useState<Order>("share");
  const orders = [
    { value: "share" as Order, text: "largest share" },
    ...(data.parts.some((one) => typeof one.sparseness === "number") ? [{ value: "sparseness" as Order, text: "sparsest" }] : []),
    ...(data.parts.some((one) => typeof one.stability === "number") ? [{ value: "stability" as Order, text: "most stable" }] : []),
  ];
  const parts = [...data.parts].sort((a, b) => (b[order] ?? -1) - (a[order] ?? -1));
  const pictures = parts.some((one) => one.picture !== null);
  return (
    <div class="parts">
      {data.note && <p class="measure">{data.note}</p>}
      {orders.length > 1 && (
        <div class="controls">
          <Choice label="First" options={orders} value={order} onChange={setOrder} />
        </div>
      )}
      <ul class={pictures ? "cards pictured" : "cards"}>
        {parts.map((one) => (
          <li key={one.name} class="card">
            <PartCard part={one} data={data} />
          </li>
        ))}
      </ul>
      {data.more > 0 && <p class="caption">and {count(data.more)} more</p>}
    </div>
  );
}

function PartCard(props: { part: Part; data: Parts }) {
  const { part, data } = props;
  const facts = [
    part.share === null ? "" : data.noun === "part" ? percent(part.share) : `${percent(part.share)} of the rows`,
    typeof part.sparseness === "number" ? `sparseness ${fixed(part.sparseness, 2)}` : "",
    typeof part.stability === "number" ? `stability ${fixed(part.stability, 2)}` : "",
    typeof part.noise === "number" ? `noise ${plain(part.noise, 3)}` : "",
  ].filter((text) => text);
  return (
    <>
      <h3>
        {part.name} <small>{facts.join(" · ")}</small>
      </h3>
      {part.picture === null ? (
        <BarTable
          caption={data.what}
          bars={part.columns.map((name, i) => ({
            name,
            value: part.values[i],
            text: data.signed ? fixed(part.values[i], 2) : percent(part.values[i]),
          }))}
          nameLabel="column"
          valueLabel={data.what}
          signed={data.signed}
        />
      ) : (
        <img class="pixels" src={part.picture} alt={`${part.name} as a picture`} />
      )}
    </>
  );
}
