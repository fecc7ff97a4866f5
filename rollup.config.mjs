import { rmSync } from "node:fs";
import typescript from "@rollup/plugin-typescript";

const entries = [
  "index",
  "rate-limit/index",
  "fetch/index",
  "opentelemetry/index",
  "diagnostics-channel/index",
  "redis/index",
  "testing/index",
];

/** Starts from an empty folder, so that a file that lost its source cannot be published. */
const clean = {
  name: "clean",
  buildStart() {
    rmSync("dist", { recursive: true, force: true });
  },
};

/** Writes every declaration a second time for CommonJS: TypeScript takes the format of a declaration from its ending. */
const commonJsDeclarations = {
  name: "common-js-declarations",
  generateBundle(_options, bundle) {
    for (const [file, asset] of Object.entries(bundle)) {
      if (asset.type !== "asset" || !file.endsWith(".d.ts")) continue;
      const source = String(asset.source).replace(
        /(\b(?:from|import)\s*\(?\s*["']\.[^"']*)\.js(["'])/g,
        "$1.cjs$2",
      );
      this.emitFile({ type: "asset", fileName: file.replace(/\.d\.ts$/, ".d.cts"), source });
    }
  },
};

const baseOf = (id) =>
  /\/src\/(internal|cancellation)\/|\/src\/(errors|clock)\.ts$/.test(id) ? "base" : undefined;

const output = (format, extension, plugins = []) => ({
  dir: "dist",
  format,
  exports: "named",
  sourcemap: true,
  entryFileNames: `[name].${extension}`,
  chunkFileNames: `shared/[name].${extension}`,
  // A file for each folder, and one for what lies under them: few enough to load fast, and a bundler leaves out those
  // that are not used.
  manualChunks: (id) =>
    /\/src\/(context|lifespan|pipeline|rate-limit)\/(?!index\.ts$)/.exec(id)?.[1] ?? baseOf(id),
  onlyExplicitManualChunks: true,
  // Else an entry would name what its files import, Node's module among it.
  hoistTransitiveImports: false,
  plugins,
});

export default {
  input: Object.fromEntries(entries.map((name) => [name, `src/${name}.ts`])),
  // Only where it is used: else the root file would name Node's module, also for those who import a limiter alone.
  treeshake: { moduleSideEffects: "no-external" },
  external: (id) => !id.startsWith(".") && !id.startsWith("/"),
  plugins: [clean, typescript({ tsconfig: "tsconfig.build.json", noEmitOnError: true })],
  output: [output("es", "js", [commonJsDeclarations]), output("cjs", "cjs")],
};
