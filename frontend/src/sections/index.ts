// Which component draws which kind of section. A model's own section is one file here and one line below.
import type { ComponentType } from "preact";
import { GallerySection } from "./gallery";
import { HolesSection } from "./holes";
import { IntervalsSection } from "./intervals";
import { KernelSection } from "./kernel";
import { PartsSection } from "./parts";
import { PicturesSection } from "./pictures";
import { RegressionSection } from "./regression";
import { SearchSection } from "./search";
import "./sections.css";
import { CountsSection, TableSection } from "./table";
import { TopicsSection } from "./topics";

export type SectionView = ComponentType<{ data: Record<string, unknown> }>;

export const SECTIONS: Record<string, SectionView> = {
  counts: CountsSection,
  gallery: GallerySection,
  holes: HolesSection,
  intervals: IntervalsSection,
  kernel: KernelSection,
  parts: PartsSection,
  pictures: PicturesSection,
  regression: RegressionSection,
  search: SearchSection,
  table: TableSection,
  topics: TopicsSection,
};
