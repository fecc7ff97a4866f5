import { readFileSync } from "node:fs";
import { Converter, ReflectionKind } from "typedoc";

const { name, exports } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));
const entries = Object.keys(exports).filter((path) => path !== "./package.json");

/** Pieces of public types, named for the source alone: the pages show what they stand for, or say it in words. */
const PIECES = ["AnyContextKey", "AnyFunction", "AsyncFunction", "Level", "LimiterSource", "ValueSource"];

/** Members of types without a name, which the comment on what holds them describes. */
const MEMBERS = [
  "tidegate.bindContext.F",
  "tidegate.RateLimiter.wrap.F",
  "tidegate/redis.RedisRateLimiter.wrap.F",
  "tidegate.RunSnapshot.__type.state",
  "tidegate.RunSnapshot.__type.stats",
  "tidegate.RunSnapshot.__type.result",
  "tidegate/redis.RedisClient.__type.call",
  "tidegate/redis.RedisClient.__type.sendCommand",
  "tidegate/redis.RedisClient.__type.masters",
  "tidegate/opentelemetry.MeasuredLimiter.stats.__type.dimensions",
];

/** The pages of the API, one for each name, from the comments in the source. `npm run docs` puts them into docs/api. */
export default {
  entryPoints: entries.map((path) => (path === "." ? "src/index.ts" : `src${path.slice(1)}/index.ts`)),
  tsconfig: "tsconfig.build.json",
  out: "docs/api",
  plugin: ["typedoc-plugin-markdown", entriesAsUsersWriteThem, withoutPrivateBases],
  readme: "none",
  router: "member",
  entryFileName: "index",
  hidePageHeader: true,
  hideBreadcrumbs: true,
  pageTitleTemplates: { member: ({ name }) => name, module: ({ name }) => name, index: () => "API" },
  useCodeBlocks: true,
  expandParameters: true,
  parametersFormat: "table",
  interfacePropertiesFormat: "table",
  excludeInternal: true,
  excludePrivate: true,
  excludeProtected: true,
  // The package has no address where its source can be read.
  disableSources: true,
  intentionallyNotDocumented: MEMBERS,
  intentionallyNotExported: PIECES,
  requiredToBeDocumented: [
    "Variable",
    "Function",
    "Class",
    "Interface",
    "Property",
    "Method",
    "Accessor",
    "TypeAlias",
  ],
  validation: { notDocumented: true, invalidLink: true, invalidPath: true, notExported: true },
  treatWarningsAsErrors: true,
  treatValidationWarningsAsErrors: true,
  logLevel: "Warn",
};

/** Names the modules as an import does: tidegate/rate-limit, not rate-limit/index. */
function entriesAsUsersWriteThem(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    // The name of an error is that of its class.
    for (const property of project.getReflectionsByKind(ReflectionKind.Property)) {
      if (property.name === "name" && property.parent?.getChildByName("code"))
        project.removeReflection(property);
    }
    for (const module of project.getReflectionsByKind(ReflectionKind.Module)) {
      module.name = module.name === "index" ? name : `${name}/${module.name.replace(/\/index$/, "")}`;
    }
  });
}

/** Leaves out where members come from: the base classes are not exported, and not for a reader. */
function withoutPrivateBases(app) {
  app.converter.on(
    Converter.EVENT_RESOLVE_END,
    ({ project }) => {
      for (const reflection of Object.values(project.reflections)) {
        delete reflection.inheritedFrom;
        delete reflection.overwrites;
        delete reflection.implementationOf;
        const bases = reflection.extendedTypes?.filter((type) => type.reflection !== undefined) ?? [];
        if (bases.length > 0) continue;
        delete reflection.extendedTypes;
        delete reflection.typeHierarchy;
      }
    },
    -1_000, // when nothing else needs them
  );
}
