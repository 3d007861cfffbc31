// How far the numbers can be trusted, in plain words.
import { page } from "../store";
import { Panel } from "./panel";

export function ProofPanel() {
  const { word, good, sentence, meaning } = page.proof;
  return (
    <Panel id="proof" title="How far the numbers can be trusted">
      <p class="proof">
        <span class={good ? "badge good" : "badge bad"}>{word}</span> {sentence}
      </p>
      <p class="measure">{meaning}</p>
    </Panel>
  );
}
