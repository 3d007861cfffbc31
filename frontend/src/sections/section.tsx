// One section that only some models have; its data may hold a `lead`, the sentence below the heading.
import { Panel } from "../panels/panel";
import type { Section } from "../payload";
import { SECTIONS } from "./index";

export function ModelSection(props: { section: Section; id: string }) {
  const View = SECTIONS[props.section.kind];
  const lead = typeof props.section.data.lead === "string" ? props.section.data.lead : undefined;
  return (
    <Panel id={props.id} title={props.section.title} lead={lead}>
      <View data={props.section.data} />
    </Panel>
  );
}
