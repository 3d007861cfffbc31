// A regression on components: coefficients, how many components predict best, held-out rows, other methods.
import { useState } from "preact/hooks";
import { BandChart } from "../charts/band";
import { Choice } from "../charts/choice";
import { Forest } from "../charts/forest";
import { EqualPoints } from "../charts/points";
import { AsTable, DataTable } from "../charts/table";
import { count, fixed, percent, plain, short } from "../format";
import { type Blob, numbers, whole } from "../payload";
import { page } from "../store";

interface Target {
  name: string;
  coefficient: Blob;
  lower: Blob;
  upper: Blob;
  /** Places, from 1, of the columns that are drawn: those clearest of zero, or all of a spectrum … */
  drawn: Blob;
  /** … with the numbers that their names are, such as wavelengths; else null. */
  places: Blob | null;
  spread: Blob | null;
  r2: number | null;
  q2: number | null;
  residual: number | null;
  points: { measured: Blob; predicted: Blob; rows: Blob; heldOut: boolean; error: number | null } | null;
}

interface Regression {
  level: number;
  basis: string;
  reason: string;
  columns: string[];
  targets: Target[];
  curve: {
    error: Blob;
    lower: Blob;
    upper: Blob;
    best: number;
    limit: number | null;
    used: number | null;
    unit: string;
  } | null;
  held: string;
  rivals: { name: string; chosen: string; rmse: number[]; q2: number[]; difference: number; error: number }[];
  rivalsWords: string;
}

export function RegressionSection(props: { data: Record<string, unknown> }) {
  const data = props.data as unknown as Regression;
  const [place, setPlace] = useState("0");
  const target = data.targets[Number(place)];
  return (
    <div class="regression">
      {data.targets.length > 1 && (
        <div class="controls">
          <Choice
            label="Response"
            options={data.targets.map((one, i) => ({ value: String(i), text: short(one.name, 24) }))}
            value={place}
            onChange={setPlace}
          />
        </div>
      )}
      <div class="two">
        {data.curve && <Curve data={data} curve={data.curve} />}
        {target.points && <Points name={target.name} points={target.points} />}
      </div>
      <Coefficients data={data} target={target} />
      {data.rivals.length > 0 && <Rivals data={data} place={Number(place)} />}
    </div>
  );
}

function Curve(props: { data: Regression; curve: NonNullable<Regression["curve"]> }) {
  const { curve, data } = props;
  const error = numbers(curve.error);
  const x = Array.from(error, (_, i) => i);
  const marks = [{ x: curve.best, text: `least at ${curve.best}` }];
  if (curve.used !== null && curve.used !== curve.best) marks.push({ x: curve.used, text: `used: ${curve.used}` });
  return (
    <div>
      <h3>How many components predict best</h3>
      <BandChart
        label={`Error of held-out rows by number of components; least at ${curve.best}`}
        x={x}
        y={error}
        lower={numbers(curve.lower)}
        upper={numbers(curve.upper)}
        xLabel="components"
        yLabel={curve.unit}
        rule={curve.limit === null ? undefined : { y: curve.limit, text: "least + one standard error" }}
        marks={marks}
        dots
      />
      <p class="caption">
        {data.reason}. Rows held out: {data.held}.
      </p>
      <AsTable
        caption="Error of held-out rows"
        head={["components", curve.unit]}
        rows={x.map((k) => [k, plain(error[k], 5)])}
      />
    </div>
  );
}

function Points(props: { name: string; points: NonNullable<Target["points"]> }) {
  const { points } = props;
  const [measured, predicted, rows] = [numbers(points.measured), numbers(points.predicted), whole(points.rows)];
  const name = (i: number) => short(page.rows?.names?.[rows[i]] ?? `row ${rows[i] + 1}`, 60);
  const error = points.error === null ? "" : ` Root mean squared error ${plain(points.error, 4)}.`;
  return (
    <div>
      <h3>Predicted against measured</h3>
      <EqualPoints
        label={`Predicted against measured ${short(props.name)} of ${count(measured.length)} rows`}
        x={measured}
        y={predicted}
        names={name}
        xLabel={`measured ${short(props.name, 30)}`}
        yLabel="predicted"
      />
      <p class="caption">
        {points.heldOut
          ? "Each row was predicted by a model that had not seen it."
          : "These rows may have taken part in the fit, so the points lie nearer to the line than new ones would."}
        {error}
      </p>
    </div>
  );
}

type Unit = "own" | "alike";

const UNITS = [
  { value: "own", text: "per unit of the column" },
  { value: "alike", text: "per standard deviation" },
] as const;

function Coefficients(props: { data: Regression; target: Target }) {
  const { data, target } = props;
  const [unit, setUnit] = useState<Unit>("own");
  const spread = target.spread && numbers(target.spread);
  const factor = (i: number) => (spread && unit === "alike" && i > 0 ? spread[i] : 1);
  const [value, lower, upper] = [target.coefficient, target.lower, target.upper].map((one) =>
    numbers(one).map((entry, i) => entry * factor(i)),
  );
  const drawn = Array.from(whole(target.drawn));
  const places = target.places && numbers(target.places);
  const of = (some: Float32Array) => drawn.map((i) => some[i]);
  const left = data.columns.length - 1 - drawn.length;
  const what = unit === "own" ? `change of ${short(target.name, 24)} per unit` : `change of ${short(target.name, 24)} per standard deviation`;
  const level = `${Math.round(data.level * 100)} %`;
  return (
    <div>
      <h3>
        Coefficients <small>R² {target.r2 === null ? "—" : fixed(target.r2)}{target.q2 !== null && `, Q² ${fixed(target.q2)} of held-out rows`}</small>
      </h3>
      <div class="controls">
        {spread && <Choice label="Units" options={UNITS} value={unit} onChange={setUnit} />}
      </div>
      {places ? (
        <BandChart
          label={`Coefficients of ${count(places.length)} columns in their order`}
          x={places}
          y={of(value)}
          lower={of(lower)}
          upper={of(upper)}
          xLabel={`column, ${short(data.columns[1], 16)} to ${short(data.columns[places.length], 16)}`}
          yLabel={what}
        />
      ) : (
        <Forest
          label="Coefficients with their intervals"
          estimates={drawn.map((i) => ({ name: data.columns[i], value: value[i], lower: lower[i], upper: upper[i] }))}
          xLabel={what}
          zero
        />
      )}
      <p class="caption">
        Intervals of {level} rest on {data.basis}. Grey ones hold zero.{left > 0 && ` ${count(left)} columns nearer to zero are not drawn.`}
      </p>
      <AsTable
        caption={`Coefficients of ${short(target.name)} with intervals of ${level}`}
        head={["column", "coefficient", "lower", "upper"]}
        rows={data.columns.slice(0, 400).map((name, i) => [name, plain(value[i], 5), plain(lower[i], 4), plain(upper[i], 4)])}
      />
    </div>
  );
}

function Rivals(props: { data: Regression; place: number }) {
  const { data, place } = props;
  return (
    <div>
      <h3>Beside other methods</h3>
      <DataTable
        caption="The same held-out rows for each method"
        head={["method", "root mean squared error", "Q²", "difference of the error", "± standard error", "it chose"]}
        rows={data.rivals.map((one) => [
          one.name,
          plain(one.rmse[place]),
          fixed(one.q2[place]),
          plain(one.difference, 3),
          plain(one.error, 3),
          one.chosen,
        ])}
      />
      <p class="caption">{data.rivalsWords} A difference below zero is better than principal component regression; {percent(0.95)} of differences by chance alone are within two standard errors.</p>
    </div>
  );
}
