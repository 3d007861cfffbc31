// Bundles src/ into the two files that Python puts into each report. Same sources, same bytes.
import { build } from "esbuild";
import { fileURLToPath } from "node:url";

const out = process.argv[2] ?? fileURLToPath(new URL("../src/lowdim/views/report", import.meta.url));

await build({
  absWorkingDir: fileURLToPath(new URL(".", import.meta.url)),
  entryPoints: { page: "src/main.tsx" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2022"],
  charset: "utf8",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
});
