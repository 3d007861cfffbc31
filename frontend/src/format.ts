// Numbers as people read them.

/** Four significant digits, with a true minus sign; an em dash where there is no number. */
export function plain(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return "—";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text =
    size >= 1e6 || size < 1e-4
      ? value.toExponential(Math.max(digits - 2, 0))
      : Number(value.toPrecision(Math.max(digits, Math.ceil(Math.log10(size))))).toLocaleString("en-GB", {
          maximumFractionDigits: 10,
        });
  return text.replaceAll("-", "−");
}

/** As many decimals as asked, so that a column of them lines up. */
export function fixed(value: number, decimals = 3): string {
  if (!Number.isFinite(value)) return "—";
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

/** A share as a percentage with one decimal; more where little is left below one hundred or above zero. */
export function percent(share: number): string {
  if (!Number.isFinite(share)) return "—";
  const hundred = share * 100;
  const rest = 100 - hundred;
  if (rest > 1e-9 && rest < 0.05) return `${hundred.toFixed(rest < 0.0005 ? 4 : 3)} %`;
  if (hundred > 0 && hundred < 0.05) return `${Number(hundred.toPrecision(1))} %`;
  return `${hundred.toFixed(1)} %`;
}

export function count(value: number): string {
  return value.toLocaleString("en-GB");
}

/** A long name with its middle left out. */
export function short(name: string, most = 40): string {
  const letters = Array.from(name.length > 400 ? name.slice(0, 400) : name);
  if (letters.length <= most && name.length <= 400) return name.trim() || "(no name)";
  const head = Math.ceil((most - 1) * 0.6);
  return `${letters.slice(0, head).join("")}…${letters.slice(-(most - 1 - head)).join("")}`;
}
