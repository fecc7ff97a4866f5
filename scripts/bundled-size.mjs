import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/**
 * What a program weighs as a user ships it: bundled, minified and gzipped.
 *
 * @param {string} program
 * @param {"neutral" | "node"} platform
 * @param {string} folder Where its imports are looked for.
 * @returns {Promise<number>} Bytes.
 */
export async function bundledSize(program, platform, folder) {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: folder },
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    platform,
    // Optional peers: whoever uses an entry that needs one has it already.
    external: ["@opentelemetry/api"],
    logLevel: "error",
  });
  return gzipSync(outputFiles[0].contents, { level: 9 }).length;
}
