/** Numbers as text, by the rules of bakeoff/report/numbers.py; a test holds the two against each other. */

const NARROW = "\u202f";
const DASH = "\u2013";
const FEW = 100;

const fixed = (value, digits) => {
  // Python rounds halves to even on the exact value; toFixed works on the exact value too, and halves hardly occur.
  const text = value.toFixed(digits);
  return text;
};

export const count = (number) =>
  number === null || number === undefined ? DASH : String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, NARROW);

export function score(value, n) {
  if (value === null || value === undefined) return DASH;
  const digits = n >= FEW ? 1 : 0;
  const text = fixed(value * 100, digits);
  const step = 10 ** -digits;
  if (value < 1 && Number(text) >= 100) return `>${fixed(100 - step, digits)}`;
  if (value > 0 && Number(text) <= 0) return `<${fixed(step, digits)}`;
  return text;
}

export function interval(bounds, n) {
  if (!bounds) return DASH;
  const digits = n >= FEW ? 1 : 0;
  return bounds.map((end) => fixed(end * 100, digits)).join(DASH);
}

export const counted = (right, n) => (right === null || right === undefined ? DASH : `${count(right)} of ${count(n)}`);

export function perMinute(perS) {
  if (perS === null || perS === undefined) return DASH;
  const rate = perS * 60;
  if (rate >= 9.95) {
    const step = 10 ** Math.max(Math.floor(Math.log10(rate)) - 2, 0);
    return count(Math.round(rate / step) * step);
  }
  return rate >= 1 ? fixed(rate, 1) : String(Number(rate.toPrecision(2)));
}

export function latency(seconds) {
  if (seconds === null || seconds === undefined) return DASH;
  if (seconds >= 0.9995) return `${fixed(seconds, 2)}${NARROW}s`;
  const ms = seconds * 1000;
  return `${ms >= 1 || ms === 0 ? fixed(ms, 0) : Number(ms.toPrecision(1))}${NARROW}ms`;
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return DASH;
  if (seconds < 10) return latency(seconds);
  const whole = Math.round(seconds);
  const [minutes, second] = [Math.floor(whole / 60), whole % 60];
  const [hours, minute] = [Math.floor(minutes / 60), minutes % 60];
  const two = (number) => String(number).padStart(2, "0");
  if (hours >= 24) return `${Math.floor(hours / 24)}${NARROW}d ${hours % 24}${NARROW}h`;
  return hours ? `${hours}:${two(minute)}:${two(second)}` : `${minute}:${two(second)}`;
}

/** A duration where nothing beside it says what its numbers are. */
export function time(seconds) {
  const unit = seconds < 10 || seconds >= 86_400 ? "" : seconds < 3599.5 ? "min" : "h";
  return unit ? `${duration(seconds)}${NARROW}${unit}` : duration(seconds);
}

/** How long something still takes; tenths of a guess tell nothing. */
export const left = (seconds) => (seconds < 10 ? `${Math.max(Math.ceil(seconds), 1)}${NARROW}s` : time(seconds));

/** A long command over several lines, which a shell reads as one; what stands in quotes is left whole. */
export const broken = (typed) => (typed.length > 36 ? typed.replace(/ (?=-)(?=[^']*(?:'[^']*'[^']*)*$)/g, " \\\n  ") : typed);

export function memory(size) {
  if (size === null || size === undefined) return DASH;
  return size >= 999_500_000 ? `${fixed(size / 1e9, 1)}${NARROW}GB` : `${fixed(size / 1e6, 0)}${NARROW}MB`;
}

/** The size of a file or a folder, which is never told as nothing. */
export const fileSize = (size) => (size < 500_000 ? `under 1${NARROW}MB` : memory(size));

export function instant(moment) {
  const found = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(moment || "");
  return found ? `${found[1]} ${found[2]} UTC` : moment || DASH;
}
