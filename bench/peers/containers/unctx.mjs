import { AsyncLocalStorage } from "node:async_hooks";
import { createContext } from "unctx";
import { lookUpIn } from "../../support/lookups.mjs";

export default {
  name: "unctx",
  entry: import.meta.resolve("unctx"),
  program: `export { createContext } from "unctx";`,
  uses: "`createContext({ asyncContext: true, AsyncLocalStorage })`, `use()`",
  open(value) {
    const context = createContext({ asyncContext: true, AsyncLocalStorage });
    return { lookUp: lookUpIn(context.use, (body) => context.call(value, body)) };
  },
  cannot: {
    "start-stop": "holds one value and closes nothing",
    retry: "builds nothing",
  },
};
