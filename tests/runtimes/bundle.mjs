import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { ROOT, WORKSHOP } from "./workshop.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));

/** Where the package exports what a source file does. */
const ENTRIES = {
  "src/rate-limit/index.ts": "tidegate/rate-limit",
  "src/testing/index.ts": "tidegate/testing",
  "src/context/index.ts": "tidegate",
  "src/lifespan/index.ts": "tidegate",
  "src/errors.ts": "tidegate",
};

const NOTHING = /^\b$/;

/** Parts of jest that there is no stand-in for. */
const OF_JEST_ALONE = /\bjest\.(useFakeTimers|resetModules|unstable_)/;

/**
 * The suites of these folders below tests/unit that look at nothing but what the package exports, and use nothing that
 * is not there.
 *
 * @param {string[]} folders
 * @param {RegExp} modules Those of Node.js that are there.
 * @param {RegExp} [lacking] What is not there, as it stands in the text of a suite.
 * @returns {Promise<string[]>} Their files.
 */
export async function portableSuites(folders, modules, lacking = NOTHING) {
  const files = folders.flatMap((folder) => {
    const path = join(ROOT, "tests/unit", folder);
    return readdirSync(path).flatMap((name) => (name.endsWith(".test.ts") ? [join(path, name)] : []));
  });
  const portable = await Promise.all(files.map((file) => isPortable(file, modules, lacking)));
  return files.filter((_, index) => portable[index]);
}

async function isPortable(file, modules, lacking) {
  const text = readFileSync(file, "utf8");
  if (OF_JEST_ALONE.test(text) || lacking.test(text)) return false;
  try {
    await bundle({ stdin: { contents: `import ${JSON.stringify(file)};`, resolveDir: HERE } }, modules);
    return true;
  } catch (error) {
    if (error.errors === undefined) throw error;
    return false;
  }
}

/**
 * One program of suites.
 *
 * @param {string[]} suites
 * @param {RegExp} modules
 * @param {(suites: string) => string} programOf Makes the program from the text of an object with what loads each suite.
 * @param {boolean} withPackage Whether the package is in it; else it is imported as users do.
 */
export async function bundleSuites(suites, modules, programOf, withPackage) {
  const loaders = suites.map(
    (file) => `${JSON.stringify(relative(ROOT, file))}: () => import(${JSON.stringify(file)})`,
  );
  const contents = programOf(`{ ${loaders.join(", ")} }`);
  const { outputFiles } = await bundle({ stdin: { contents, resolveDir: HERE } }, modules, withPackage);
  return outputFiles[0].text;
}

function bundle(options, modules, withPackage = true) {
  return build({
    ...options,
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["module", "import"],
    // Of what runs the tests; the package asks for no such thing.
    define: { "process.env.NODE_ENV": '"test"' },
    logLevel: "silent",
    nodePaths: [join(WORKSHOP, "node_modules")],
    external: withPackage ? [] : ["tidegate"],
    plugins: [packedPackage(modules)],
  });
}

/** Reads from the package what suites import from the sources, and refuses what it does not export. */
function packedPackage(modules) {
  return {
    name: "packed-package",
    setup({ onResolve, resolve }) {
      onResolve({ filter: /^\.{1,2}\// }, ({ path, resolveDir, kind }) => {
        const source = relative(ROOT, join(resolveDir, path)).replace(/\.js$/, ".ts");
        if (source.startsWith("src/")) {
          const entry = ENTRIES[source];
          if (entry === undefined) return { errors: [{ text: `${source} is not exported` }] };
          return resolve(entry, { kind, resolveDir: WORKSHOP });
        }
        return source.startsWith("tests/unit/") || source.startsWith("tests/support/")
          ? { path: join(ROOT, source) }
          : undefined;
      });
      onResolve({ filter: /^@jest\/globals$/ }, () => ({ path: join(HERE, "jest-globals.mjs") }));
      onResolve({ filter: /^node:/ }, ({ path }) =>
        modules.test(path) ? { path, external: true } : { errors: [{ text: `${path} is not there` }] },
      );
    },
  };
}
