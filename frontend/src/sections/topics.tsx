// Words and texts of each topic, and how topics meet known classes.
import { useState } from "preact/hooks";
import { BarTable } from "../charts/bars";
import { Choice } from "../charts/choice";
import { count, fixed, percent, short } from "../format";

interface Word {
  word: string;
  share: number;
  lift: number;
}

interface Topic {
  name: string;
  share: number;
  documents: number;
  npmi: number | null;
  stability: number | null;
  words: Record<string, Word[]>;
  texts: { name: string; label: string | null; share: number; words: number }[];
}

interface Topics {
  topics: Topic[];
  classes: { names: string[]; counts: number[][] } | null;
}

type Ranking = "weight" | "relevance" | "lift";

const RANKINGS = [
  { value: "weight", text: "most frequent" },
  { value: "relevance", text: "most telling" },
  { value: "lift", text: "found nowhere else" },
] as const;

export function TopicsSection(props: { data: Record<string, unknown> }) {
  const data = props.data as unknown as Topics;
  const [by, setBy] = useState<Ranking>("weight");
  return (
    <div class="topics">
      <p class="lead">
        A topic is a list of words with shares that add up to one. Frequent words say what it is about; telling words say
        what sets it apart.
      </p>
      <div class="controls">
        <Choice label="Words" options={RANKINGS} value={by} onChange={setBy} />
      </div>
      <ul class="cards">
        {data.topics.map((one) => (
          <li key={one.name} class="card">
            <TopicCard topic={one} by={by} />
          </li>
        ))}
      </ul>
      {data.classes && <Classes topics={data.topics} classes={data.classes} />}
    </div>
  );
}

function TopicCard(props: { topic: Topic; by: Ranking }) {
  const { topic, by } = props;
  const words = topic.words[by].slice(0, 12);
  return (
    <>
      <h3>
        {topic.name}{" "}
        <small>
          {percent(topic.share)} of the words · {count(topic.documents)} texts
        </small>
      </h3>
      <p class="card-facts">
        {topic.npmi !== null && <span>coherence {fixed(topic.npmi, 2)}</span>}
        {topic.stability !== null && <span>stability {fixed(topic.stability, 2)}</span>}
      </p>
      <BarTable
        caption={by === "lift" ? "times as frequent as in all texts" : "share of the topic's words"}
        bars={words.map((one) => ({
          name: one.word,
          value: by === "lift" ? one.lift : one.share,
          text: by === "lift" ? `${fixed(one.lift, 1)} ×` : percent(one.share),
        }))}
        nameLabel="word"
        valueLabel={by === "lift" ? "lift" : "share"}
      />
      <details>
        <summary>Texts with most of it</summary>
        <ol class="texts">
          {topic.texts.map((one, i) => (
            <li key={i}>
              <span title={short(one.name, 300)}>{short(one.name, 44)}</span>{" "}
              <small>
                {percent(one.share)}
                {one.label !== null && ` · ${short(one.label, 24)}`}
              </small>
            </li>
          ))}
        </ol>
      </details>
    </>
  );
}

function Classes(props: { topics: Topic[]; classes: { names: string[]; counts: number[][] } }) {
  const most = Math.max(...props.classes.counts.flat(), 1);
  return (
    <div class="table-scroll" role="region" aria-label="Texts of each class by their largest topic" tabIndex={0}>
      <table class="data heat">
        <caption>Texts of each known class, by their largest topic</caption>
        <thead>
          <tr>
            <th scope="col">class</th>
            {props.topics.map((one) => (
              <th key={one.name} scope="col" title={one.words.weight.slice(0, 6).map((word) => word.word).join(", ")}>
                {one.name}
                <small>{one.words.weight.slice(0, 2).map((word) => word.word).join(", ")}</small>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.classes.names.map((name, i) => (
            <tr key={i}>
              <th scope="row">{short(name, 40)}</th>
              {props.classes.counts[i].map((value, j) => (
                <td key={j}>
                  <span class="heat-cell" style={{ "--heat": value / most }}>
                    {count(value)}
                  </span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
