export const pad = (n: number, width = 2): string => String(n).padStart(width, "0");
const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const LONG_DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
export const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** A moment in the three forms that RFC 9110 has. */
export function httpDates(at: number): [fixed: string, rfc850: string, asctime: string] {
  const date = new Date(at);
  const [day, month] = [date.getUTCDate(), MONTHS[date.getUTCMonth()] ?? ""];
  const year = date.getUTCFullYear();
  const time = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map((n) => pad(n)).join(":");
  const [short, long] = [DAYS[date.getUTCDay()] ?? "", LONG_DAYS[date.getUTCDay()] ?? ""];
  return [
    `${short}, ${pad(day)} ${month} ${String(year)} ${time} GMT`,
    `${long}, ${pad(day)}-${month}-${pad(year % 100)} ${time} GMT`,
    `${short} ${month} ${String(day).padStart(2, " ")} ${time} ${String(year)}`,
  ];
}

/** The same moment as RFC 3339 writes it, at an offset in minutes. */
export function timestamp(at: number, offset: number): string {
  const local = new Date(at + offset * 60_000).toISOString().slice(0, -1);
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
  return `${local}${offset < 0 ? "-" : "+"}${pad(hours)}:${pad(minutes)}`;
}
