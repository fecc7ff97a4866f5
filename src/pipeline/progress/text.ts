/** Takes no place, or would move the cursor, turn the writing round, or end the line. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
/** East Asian wide characters and emoji, by block: close enough for names, and no table to keep up to date. */
const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}/u;

/** A name as it can stand in a line. */
export function cleanName(name: string): string {
  return name.replace(UNSEEN, "") || "(unnamed)";
}

/** How many columns of a terminal a clean text takes. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += WIDE.test(character) ? 2 : /\p{M}/u.test(character) ? 0 : 1;
  return width;
}

/** The text when it fits in `columns`, from 1 up, else its beginning and an ellipsis. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = "";
  for (const character of text) {
    if (widthOf(kept + character) >= columns) break;
    kept += character;
  }
  return `${kept}…`;
}

/** A count. What is none shows as a question mark: a display must not be the place where a fault of others is met. */
export function countText(n: number): string {
  return Number.isFinite(n) ? String(Math.round(n)) : "?";
}

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;

/** A rate in the largest of seconds, minutes and hours in which it is 1 or more: "50/s", "2.5/s", "30/min". */
export function rateText(perSecond: number): string {
  if (perSecond >= 1 || perSecond === 0) return `${short(perSecond)}/s`;
  return perSecond >= 1 / MINUTE ? `${short(perSecond * MINUTE)}/min` : `${short(perSecond * HOUR)}/h`;
}

/** A time in one unit: "0.4 s", "76 s", "1.8 min", "12 min", "30 h", "4.2 d". */
export function durationText(ms: number): string {
  const seconds = ms / 1_000;
  if (!(seconds >= 100)) return `${short(seconds)} s`;
  if (seconds < 100 * MINUTE) return `${short(seconds / MINUTE)} min`;
  return seconds < 2 * DAY ? `${short(seconds / HOUR)} h` : `${short(seconds / DAY)} d`;
}

/** To two digits, or a whole number. */
function short(n: number): string {
  return Math.abs(n) < 10 ? String(Math.round(n * 10) / 10) : countText(n);
}
