/** Lifespans that go wrong: they fail half-way, yield twice, or never yield. */
const COCOINDEX = { library: "cocoindex", notRun: "a Python library" };
const OURS = { library: "tidegate", module: "environment", make: "failing" };

const messageOf = (promise) =>
  promise.then(
    () => null,
    (error) => error.message,
  );

export const faults = [
  {
    name: "resources opened before a failed start leak",
    contestants: [COCOINDEX, OURS],
    async probe(make) {
      const closed = [];
      const environment = make(async function* failing(open) {
        await open("a", () => closed.push("a"));
        await open("b", () => closed.push("b"));
        yield* cannotStart();
      });
      return { message: await messageOf(environment.start()), closed: closed.join(" ") };
    },
    seen: ({ message, closed }) => closed !== "b a" || message !== "cannot start",
    figure: ({ message, closed }) => `opened a b; closed ${closed || "none"}; error: ${message ?? "none"}`,
  },
  {
    name: "a lifespan that yields twice is accepted",
    contestants: [COCOINDEX, OURS],
    async probe(make) {
      const closed = [];
      const environment = make(async function* yieldsTwice(open) {
        await open("a", () => closed.push("a"));
        yield;
        yield;
      });
      await environment.start();
      return { message: await messageOf(environment.stop()), closed: closed.join(" ") };
    },
    seen: ({ message, closed }) => !namesIt(message, "yieldsTwice") || closed !== "a",
    figure: ({ message, closed }) => `closed ${closed || "none"}; ${message ?? "no error"}`,
  },
  {
    name: "the error of a lifespan without a yield does not name it",
    contestants: [COCOINDEX, OURS],
    async probe(make) {
      const closed = [];
      const environment = make(async function* neverYields(open) {
        await open("a", () => closed.push("a"));
      });
      return { message: await messageOf(environment.start()), closed: closed.join(" ") };
    },
    seen: ({ message, closed }) => !namesIt(message, "neverYields") || closed !== "a",
    figure: ({ message, closed }) => `closed ${closed || "none"}; ${message ?? "no error"}`,
  },
];

function namesIt(message, name) {
  return message !== null && message.includes(name) && message.includes("yield");
}

async function* cannotStart() {
  throw new Error("cannot start");
}
