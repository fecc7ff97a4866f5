import { Container, inject, InjectionToken } from "@needle-di/core";
import { lookUpIn } from "../../support/lookups.mjs";

export default {
  name: "@needle-di/core",
  entry: import.meta.resolve("@needle-di/core"),
  program: `export { Container, inject, InjectionToken } from "@needle-di/core";`,
  uses: "`Container`, `get(TOKEN)`; in the row after-await `inject(TOKEN)`",
  open(value, { ambient }) {
    const token = new InjectionToken("value");
    const container = new Container().bind({ provide: token, useValue: value });
    if (!ambient)
      return {
        lookUp: lookUpIn(() => container.get(token)),
      };
    // Only what the container builds may call inject().
    const built = new InjectionToken("built");
    const run = (body) => container.bind({ provide: built, useFactory: body, async: true }).getAsync(built);
    return { lookUp: lookUpIn(() => inject(token), run) };
  },
  asyncValue(build) {
    const token = new InjectionToken("value");
    const container = new Container().bind({ provide: token, useFactory: build, async: true });
    return () => container.getAsync(token);
  },
  cannot: { "start-stop": "closes nothing" },
};
