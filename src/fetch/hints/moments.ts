/** The longest wait that a hint can ask for: whatever is longer counts as this, a day. */
const LONGEST_MS = 24 * 60 * 60 * 1000;

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const DECIMAL = /^\d+(?:\.\d+)?$/;

// RFC 9110, 5.6.7: the fixed form, and the two old ones that a recipient has to know.
const FIXED = /^\w{3}, (\d{2}) (\w{3}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
const RFC_850 = /^\w{6,9}, (\d{2})-(\w{3})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
const ASCTIME = /^\w{3} (\w{3}) ([ \d]\d) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/;

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?([Zz]|[+-]\d{2}:\d{2})$/;

const GO_DURATION = /^(?:\d+(?:\.\d+)?(?:h|ms|us|ns|m|s|d))+$/;
const GO_PART = /(\d+(?:\.\d+)?)(h|ms|us|ns|m|s|d)/g;
/** As it comes: the values of headers are read byte by byte, so a micro sign in UTF-8 is two characters. */
const MICRO = /Â?µs/g;
const GO_UNIT_MS: Readonly<Record<string, number>> = {
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 1e-3,
  ns: 1e-6,
};

/** A wait that is neither negative nor endless. */
export function boundedMs(ms: number): number {
  return Math.min(Math.max(0, ms), LONGEST_MS);
}

/** A number written in digits, with a fraction perhaps; undefined for anything else. */
export function readDecimal(text: string): number | undefined {
  return DECIMAL.test(text) ? Number(text) : undefined;
}

/** The moment of an HTTP date, in milliseconds since 1970. */
export function readHttpDate(text: string): number | undefined {
  const fixed = FIXED.exec(text);
  if (fixed !== null) {
    const [, day, month, year, ...time] = fixed;
    return moment(Number(year), monthOf(month), Number(day), time);
  }
  const old = RFC_850.exec(text);
  if (old !== null) {
    const [, day, month, year, ...time] = old;
    // What would be far in the future is meant to be past.
    const century = Number(year) > 75 ? 1900 : 2000;
    return moment(century + Number(year), monthOf(month), Number(day), time);
  }
  const asctime = ASCTIME.exec(text);
  if (asctime === null) return undefined;
  const [, month, day, hours, minutes, seconds, year] = asctime;
  return moment(Number(year), monthOf(month), Number(day), [hours, minutes, seconds]);
}

/** The moment of an RFC 3339 timestamp, in milliseconds since 1970. */
export function readTimestamp(text: string): number | undefined {
  const match = RFC_3339.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hours, minutes, seconds, fraction = "0", zone = "Z"] = match;
  const base = moment(Number(year), Number(month) - 1, Number(day), [hours, minutes, seconds]);
  const offset = offsetMs(zone);
  if (base === undefined || offset === undefined) return undefined;
  return base + Number(`0.${fraction}`) * 1000 - offset;
}

/** A duration as Go prints it, `6m0s` or `12ms`, in milliseconds; and in days, which some servers add. */
export function readGoDuration(given: string): number | undefined {
  const text = given.replace(MICRO, "us");
  if (!GO_DURATION.test(text)) return undefined;
  let ms = 0;
  for (const [, amount, unit = "s"] of text.matchAll(GO_PART)) ms += Number(amount) * (GO_UNIT_MS[unit] ?? 0);
  return ms;
}

function monthOf(name: string | undefined): number {
  return MONTHS.indexOf(name ?? "");
}

function offsetMs(zone: string): number | undefined {
  if (zone.toUpperCase() === "Z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(4));
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/** Undefined for a date or time that does not exist; a leap second is the second after it. */
function moment(
  year: number,
  month: number,
  day: number,
  time: readonly (string | undefined)[],
): number | undefined {
  const [hours = NaN, minutes = NaN, seconds = NaN] = time.map(Number);
  if (month < 0 || month > 11 || hours > 23 || minutes > 59 || seconds > 60) return undefined;
  const at = Date.UTC(year, month, day, hours, minutes, seconds);
  // Date.UTC takes the 31st of February for the 3rd of March.
  return new Date(Date.UTC(year, month, day)).getUTCDate() === day ? at : undefined;
}
