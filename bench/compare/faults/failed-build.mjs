/** An async value that cannot be made at first: a database that is not up yet. */
export const faults = [
  {
    name: "a failed async build is remembered for ever",
    contestants: [
      { library: "effect", make: "lazy", setting: "ManagedRuntime" },
      { library: "awilix", make: "lazy" },
      { library: "inversify", make: "lazy" },
      { library: "iti", make: "lazy" },
      { library: "tidegate", module: "environment", make: "lazy", setting: "provideLazy" },
    ],
    async probe(make) {
      let builds = 0;
      const get = await make(async () => {
        builds += 1;
        if (builds === 1) throw new Error("not up yet");
        return "up";
      });
      const ends = [];
      for (let use = 0; use < 3; use += 1) {
        try {
          await get();
          ends.push("works");
        } catch {
          ends.push("fails");
        }
      }
      return { builds, ends };
    },
    seen: ({ ends }) => ends.at(-1) === "fails",
    figure: ({ builds, ends }) => `uses: ${ends.join(", ")}; builds: ${String(builds)}`,
  },
];
