// What the columns have to do with the components.
import { correlations } from "../data";
import { mostK, page } from "../store";
import { Circle } from "./circle";
import { LoadingsTable } from "./loadings";
import { ComponentPictures } from "./pictures";
import { Panel } from "./panel";

export function ColumnsPanel() {
  const { entry, signed } = page.columns!;
  const lead = page.picture
    ? "A component is a pattern of pixels that get brighter and darker together; a picture has more or less of it."
    : signed
    ? "A component is a weighted sum of the columns. Long bars are the columns it is made of; opposite colours pull in opposite directions."
    : "A component is made of the columns with long bars.";
  return (
    <Panel id="columns" title="What the components are made of" lead={lead}>
      {page.picture ? (
        <>
          <ComponentPictures />
          <details>
            <summary>The {entry} of every pixel, as a table</summary>
            <LoadingsTable />
          </details>
        </>
      ) : (
        <LoadingsTable />
      )}
      {correlations() && mostK > 1 && !page.picture && <Circle />}
    </Panel>
  );
}
