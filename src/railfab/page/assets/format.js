/** Values as text: few digits, a unit, and a dash for what is not known. */

export const UNKNOWN = "–";

const known = (value) => value !== null && value !== undefined && !Number.isNaN(value);
const PREFIXES = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];
const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** Three significant digits at most, thousands grouped. */
export function number(value) {
  if (!known(value)) return UNKNOWN;
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value)) return grouped.format(value);
  return value.toFixed(size >= 10 ? 1 : size >= 0.01 || size === 0 ? 2 : 4);
}

/** A number with a decimal prefix: 1.20 M. */
export function short(value, unit = "") {
  if (!known(value)) return UNKNOWN;
  for (const [factor, prefix] of PREFIXES) {
    if (Math.abs(value) >= factor) return `${number(value / factor)} ${prefix}${unit}`;
  }
  return unit ? `${number(value)} ${unit}` : number(value);
}

export const bytes = (value) => short(value, "B");
export const perSecond = (value) => (known(value) ? `${short(value)}/s` : UNKNOWN);
export const percent = (share) =>
  known(share) ? `${share >= 0.1 ? Math.round(share * 100) : number(Math.round(share * 1000) / 10)} %` : UNKNOWN;
export const gbps = (value) => (known(value) ? `${number(value)} Gb/s` : UNKNOWN);

/** A value in the unit that the server names. */
export function withUnit(value, unit) {
  if (!known(value)) return UNKNOWN;
  if (unit === "bytes" || unit === "B") return bytes(value);
  if (unit === "ratio" || unit === "share") return percent(value);
  if (unit === "%" || unit === "percent") return `${number(value)} %`;
  if (unit === "s" || unit === "seconds") return seconds(value);
  if (unit === "Gb/s" || unit === "gbps") return gbps(value);
  if (unit?.endsWith("/s")) return perSecond(value);
  return short(value, unit ?? "");
}

/** A duration: 210 ms, 2.91 s, 12 min. */
export function seconds(value) {
  if (!known(value)) return UNKNOWN;
  if (value === 0) return "0 s";
  if (value < 1e-3) return `${number(value * 1e6)} µs`;
  if (value < 1) return `${number(value * 1e3)} ms`;
  if (value < 120) return `${number(Math.round(value * 100) / 100)} s`;
  return value < 7200 ? `${number(Math.round(value / 60))} min` : `${number(Math.round(value / 360) / 10)} h`;
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

/** Time of day in the zone of the browser; with the day where it is not that of `now_s`. */
export function time(at_s, now_s = at_s) {
  const at = new Date(at_s * 1000);
  const same = at.toDateString() === new Date(now_s * 1000).toDateString();
  return same ? clock.format(at) : `${day.format(at)} ${clock.format(at)}`;
}

/** A count with its noun: 1 switch, 3 switches. */
export function counted(count, noun, plural = `${noun}s`) {
  return `${grouped.format(count)} ${count === 1 ? noun : plural}`;
}

/** Some of many names: a, b, c and 5 more. */
export function listed(names, most = 4) {
  const shown = names.slice(0, most).join(", ");
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}
