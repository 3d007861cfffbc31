// The frame of every section of the page: a heading, one sentence, and the content.
import type { ComponentChildren } from "preact";

export function Panel(props: { id: string; title: string; lead?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class="panel" id={props.id} aria-labelledby={`${props.id}-title`}>
      <h2 id={`${props.id}-title`}>{props.title}</h2>
      {props.lead && <p class="lead">{props.lead}</p>}
      {props.children}
    </section>
  );
}
