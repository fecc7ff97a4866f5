/**
 * Holds what each entry exports, with its types, against the reports in `etc/`, so that a change of the public names is seen
 * in the diff. Run it after a build; `--write` writes the reports anew. Ends with 1 and one line per entry that differs.
 */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Extractor, ExtractorConfig } from "@microsoft/api-extractor";
import { entries } from "./entries.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const REPORTS = join(ROOT, "etc");
const isWriting = process.argv.includes("--write");

mkdirSync(REPORTS, { recursive: true });
for (const { name, declarations } of entries()) {
  const config = ExtractorConfig.prepare({
    configObject: {
      projectFolder: ROOT,
      mainEntryPointFilePath: declarations,
      apiReport: {
        enabled: true,
        reportFolder: REPORTS,
        reportFileName: `${name}.api.md`,
        reportTempFolder: join(ROOT, "node_modules/.cache/api-report"),
        includeForgottenExports: true,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      compiler: { tsconfigFilePath: join(ROOT, "tsconfig.build.json") },
      newlineKind: "lf",
      messages: {
        compilerMessageReporting: { default: { logLevel: "error" } },
        extractorMessageReporting: { default: { logLevel: "none" } },
        tsdocMessageReporting: { default: { logLevel: "none" } },
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(ROOT, "package.json"),
  });
  const { succeeded, apiReportChanged } = Extractor.invoke(config, {
    localBuild: isWriting,
    showVerboseMessages: false,
    messageCallback: (message) => {
      message.handled = message.logLevel !== "error";
    },
  });
  if (succeeded || (isWriting && apiReportChanged)) continue;
  console.error(
    `api: what ${name} exports is not what etc/${name}.api.md says; npm run api:write, and look at the diff`,
  );
  process.exitCode = 1;
}
