// How to make the same page again.
import { useSignal } from "@preact/signals";
import { page, said } from "../store";
import { Panel } from "./panel";

export function MadePanel() {
  const { python, cli, facts } = page.made;
  return (
    <Panel id="made" title="Made by">
      {python && <Lines title="In Python" text={python} />}
      {cli && <Lines title="At the prompt" text={cli} />}
      <dl class="made">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

function Lines(props: { title: string; text: string }) {
  const done = useSignal(false);
  const take = async () => {
    done.value = await copied(props.text);
    said.value = done.value ? `${props.title}: copied` : "The browser does not allow copying; select the lines and copy them";
    setTimeout(() => (done.value = false), 2000);
  };
  return (
    <div class="lines">
      <h3>{props.title}</h3>
      <button type="button" onClick={take} aria-label={`Copy: ${props.title}`}>
        {done.value ? "Copied" : "Copy"}
      </button>
      <pre tabIndex={0}>
        <code>{props.text}</code>
      </pre>
    </div>
  );
}

/** Text to the clipboard, also in browsers that keep the new interface from files. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
