/** How the requests come. */
export const KINDS = ["steady", "burst", "poisson", "fan-out"] as const;
export type Kind = (typeof KINDS)[number];

export interface Slider {
  readonly label: string;
  readonly unit: string;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  /** What it says at first, and what stands for a value in the address that cannot be. */
  readonly initial: number;
}

/** Everything that is a number. The names are those in the address. */
export const SLIDERS = {
  rate: { label: "Rate", unit: "tokens/s", min: 0.5, max: 200, step: 0.5, initial: 50 },
  burst: { label: "Burst window", unit: "s", min: 0, max: 60, step: 0.5, initial: 1 },
  tokens: { label: "Tokens per request", unit: "", min: 1, max: 500, step: 1, initial: 1 },
  perSecond: { label: "Requests a second", unit: "", min: 0.5, max: 400, step: 0.5, initial: 60 },
  count: { label: "Requests at once", unit: "", min: 1, max: 5000, step: 1, initial: 500 },
  every: { label: "A burst every", unit: "s", min: 1, max: 120, step: 1, initial: 10 },
  seed: { label: "Seed", unit: "", min: 1, max: 1000, step: 1, initial: 1 },
  pauseAt: { label: "Pause begins at", unit: "s", min: 0, max: 3600, step: 1, initial: 5 },
  pauseFor: { label: "Pause lasts", unit: "s", min: 0, max: 120, step: 1, initial: 0 },
  rate2: { label: "Rate", unit: "tokens/s", min: 10, max: 20_000, step: 10, initial: 5000 },
  burst2: { label: "Burst window", unit: "s", min: 0, max: 60, step: 0.5, initial: 1 },
  tokens2: { label: "Tokens per request", unit: "", min: 1, max: 5000, step: 1, initial: 200 },
  duration: { label: "Requests come for", unit: "s", min: 10, max: 3600, step: 10, initial: 30 },
} as const satisfies Record<string, Slider>;

export type SliderName = keyof typeof SLIDERS;

export type Settings = Record<SliderName, number> & {
  arrivals: Kind;
  /** Whether requests draw from a second dimension too. */
  second: boolean;
};

const NAMES = Object.keys(SLIDERS) as SliderName[];
const FIRST_KIND: Kind = "steady";

export function initialSettings(): Settings {
  const numbers = Object.fromEntries(NAMES.map((name) => [name, SLIDERS[name].initial]));
  return { ...(numbers as Record<SliderName, number>), arrivals: FIRST_KIND, second: false };
}

/** The settings as the query of an address: only what differs from the first ones; empty for none. */
export function toQuery(settings: Settings): string {
  const initial = initialSettings();
  const query = new URLSearchParams();
  if (settings.arrivals !== initial.arrivals) query.set("arrivals", settings.arrivals);
  for (const name of NAMES) {
    if (settings[name] !== initial[name]) query.set(name, String(settings[name]));
  }
  if (settings.second) query.set("second", "on");
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

/** Reads the query of an address. Whatever cannot be stands at its first value, and the rest is kept. */
export function fromQuery(text: string): Settings {
  const query = new URLSearchParams(text);
  const settings = initialSettings();
  const kind = KINDS.find((one) => one === query.get("arrivals"));
  if (kind !== undefined) settings.arrivals = kind;
  for (const name of NAMES) settings[name] = numberOf(query.get(name), SLIDERS[name]);
  settings.second = query.get("second") === "on";
  return settings;
}

/** Only a number that the slider can show: the browser would move any other. */
function numberOf(text: string | null, { min, max, step, initial }: Slider): number {
  const value = text === null || text.trim() === "" ? NaN : Number(text);
  const isStep = Number.isInteger((value - min) / step);
  return value >= min && value <= max && isStep ? value : initial;
}
