const UNITS = [
  { from: 7_200_000, ms: 3_600_000, name: "h" },
  { from: 120_000, ms: 60_000, name: "min" },
  { from: 1000, ms: 1000, name: "s" },
  { from: 0, ms: 1, name: "ms" },
] as const;

export type TimeUnit = (typeof UNITS)[number];

/** The unit in which a time reads well. */
export function unitOf(ms: number): TimeUnit {
  return UNITS.find(({ from }) => ms >= from) ?? UNITS[3];
}

/** A time for people: `9 s`, `12.5 min`. */
export function timeText(ms: number): string {
  // A nanosecond is what doubles leave of a time; it is not shown.
  const rounded = Math.round(ms * 1000) / 1000;
  const unit = unitOf(rounded);
  return `${numberText(rounded / unit.ms)} ${unit.name}`;
}

/** Up to three decimals below 10, two below 100, one below 1000, none from there on. */
export function numberText(value: number): string {
  const digits = Math.abs(value) < 10 ? 3 : Math.abs(value) < 100 ? 2 : Math.abs(value) < 1000 ? 1 : 0;
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}

export function percentText(part: number): string {
  return `${(part * 100).toLocaleString("en", { maximumFractionDigits: 1 })}%`;
}
