// The same pictures as each model makes them, and what each makes them of.
import { count, fixed, short } from "../format";

interface Gallery {
  originals: string[];
  models: { name: string; error: number; pictures: string[]; basis: string[]; k: number }[];
}

export function GallerySection(props: { data: Record<string, unknown> }) {
  const data = props.data as unknown as Gallery;
  return (
    <div class="gallery">
      <Row name="as they are" note="" pictures={data.originals} />
      {data.models.map((one) => (
        <Row key={one.name} name={one.name} note={`error ${fixed(one.error, 3)}`} pictures={one.pictures} />
      ))}
      {data.models.map((one) =>
        one.basis.length === 0 ? null : (
          <details key={one.name}>
            <summary>
              What {short(one.name, 30)} makes them of ({count(one.basis.length)} of {count(one.k)})
            </summary>
            <div class="thumbs">
              {one.basis.map((src, i) => (
                <img key={i} class="pixels" src={src} alt={`${short(one.name, 30)} ${i + 1}`} />
              ))}
            </div>
          </details>
        ),
      )}
    </div>
  );
}

function Row(props: { name: string; note: string; pictures: string[] }) {
  return (
    <div class="gallery-row">
      <p>
        {short(props.name, 30)} <small>{props.note}</small>
      </p>
      <div class="thumbs">
        {props.pictures.map((src, i) => (
          <img key={i} class="pixels" src={src} alt={`picture ${i + 1}, ${props.name}`} />
        ))}
      </div>
    </div>
  );
}
