// The page: from the payload to the panels.
import { effect } from "@preact/signals";
import { render } from "preact";
import { hasValues, loadings, rowCount } from "./data";
import "./page.css";
import { Bar } from "./panels/bar";
import { ColumnsPanel } from "./panels/columns";
import { Head } from "./panels/head";
import { MadePanel } from "./panels/made";
import { MapPanel } from "./panels/map";
import { NoLimitsPanel, OutliersPanel } from "./panels/outliers";
import { ProofPanel } from "./panels/proof";
import { RebuildPanel } from "./panels/rebuild";
import { SpectrumPanel } from "./panels/spectrum";
import { SECTIONS } from "./sections/index";
import { ModelSection } from "./sections/section";
import { onPaper, page, said, theme } from "./store";

/** Words for the bar at the top, where a heading is too long for it. */
const IN_BAR: Record<string, string> = { holes: "Missing", intervals: "How sure", regression: "Prediction", search: "Search" };

/** The panels that this model has, in the order in which they are read. */
function panels() {
  const sections = page.sections
    .map((section, i) => ({ section, id: `section-${i + 1}`, text: IN_BAR[section.kind] ?? section.title }))
    .filter((one) => one.section.kind in SECTIONS)
    .map((one) => ({ ...one, view: <ModelSection section={one.section} id={one.id} /> }));
  return [
    ...sections.filter((one) => one.section.first),
    page.spectrum && page.axes.length > 0 && { id: "components", text: "Components", view: <SpectrumPanel /> },
    rowCount > 0 && page.axes.length > 0 && { id: "map", text: "Map", view: <MapPanel /> },
    // parts that are pictures have a section of their own
    loadings() && (!page.picture || page.columns!.signed) && { id: "columns", text: "Columns", view: <ColumnsPanel /> },
    ...sections.filter((one) => !one.section.first),
    hasValues && loadings() && { id: "rebuild", text: page.picture ? "Pictures" : "Rows", view: <RebuildPanel /> },
    page.rows?.noLimits && { id: "unusual", text: "Unusual rows", view: <NoLimitsPanel /> },
    page.rows?.limits && { id: "unusual", text: "Unusual rows", view: <OutliersPanel /> },
    { id: "proof", text: "Trust", view: <ProofPanel /> },
    { id: "made", text: "Made by", view: <MadePanel /> },
  ].filter((one) => !!one);
}

function Page() {
  const shown = panels();
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <Bar places={shown} />
      <Head />
      <main id="content" tabIndex={-1}>
        {shown.map((one) => (
          <div key={one.id}>{one.view}</div>
        ))}
      </main>
      <footer>A report of lowdim. This file holds everything it shows and asks the network for nothing.</footer>
      <p class="visually-hidden" role="status">
        {said.value}
      </p>
    </>
  );
}

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  if (onPaper.value) for (const folded of document.querySelectorAll("details")) folded.open = true;
});

const holder = document.getElementById("page");
if (holder) {
  holder.replaceChildren();
  render(<Page />, holder);
}
