import { type Kind, type Settings, type SliderName } from "./settings.js";

/** A group of sliders that stands together. */
export interface Controls {
  readonly legend: string;
  readonly names: readonly SliderName[];
}

export const BUDGET: Controls = { legend: "Budget", names: ["rate", "burst", "tokens"] };
export const SECOND: Controls = { legend: "Second dimension", names: ["rate2", "burst2", "tokens2"] };
export const PAUSE: Controls = { legend: "Pause", names: ["pauseFor", "pauseAt"] };

export const KIND_LABELS: Readonly<Record<Kind, string>> = {
  steady: "Steady",
  burst: "Bursts",
  poisson: "At random (Poisson)",
  "fan-out": "A fan-out, all at once",
};

/** The sliders that mean something for a kind of arrivals. */
export function arrivalSliders({ arrivals }: Settings): readonly SliderName[] {
  switch (arrivals) {
    case "steady":
      return ["perSecond", "duration"];
    case "burst":
      return ["count", "every", "duration"];
    case "poisson":
      return ["perSecond", "seed", "duration"];
    case "fan-out":
      return ["count"];
  }
}
