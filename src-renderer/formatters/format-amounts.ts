/** Formats a time span: `0.4 s`, `48.3 s`, `1 m 37 s`, `12 h 21 m`, `3 d 4 h`. */
export function formatSpan(ms: number): string {
  const seconds = ms / 1_000
  if (seconds < 59.95) return `${seconds < 9.95 ? seconds.toFixed(1) : trimZero(seconds.toFixed(1))} s`
  const two = (value: number) => String(value).padStart(2, '0')
  const whole = Math.round(seconds)
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return `${minutes} m ${two(whole % 60)} s`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return `${hours} h ${two(minutes % 60)} m`
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** Formats a span that may be very short: `0 ms`, `40 ms`, `4.2 s`. */
export function formatShortSpan(ms: number): string {
  return ms < 100 ? `${ms} ms` : formatSpan(ms)
}

function trimZero(text: string): string {
  return text.endsWith('.0') ? text.slice(0, -2) : text
}

/** Formats a whole number: `840`, `5,000`. Avoids `Intl`, whose setup delays the first paint by ten milliseconds. */
export const formatCount = (whole: number): string => String(whole).replace(/\B(?=(\d{3})+$)/g, ',')

/** Formats a number of tokens: `840`, `184k`, `1.2M`. */
export function formatTokens(tokens: number): string {
  if (tokens < 1_000) return String(tokens)
  if (tokens < 999_500) return `${Math.round(tokens / 1_000)}k`
  return `${(tokens / 1_000_000).toFixed(1)}M`
}

interface UsedTokens {
  readonly input_tokens: number | null
  readonly output_tokens: number | null
}

/** Adds input and output tokens; null if the agent reported neither. */
export const sumTokens = ({ input_tokens, output_tokens }: UsedTokens): number | null =>
  input_tokens === null && output_tokens === null ? null : (input_tokens ?? 0) + (output_tokens ?? 0)

/** Formats the sum of tokens: `184k`, or `—` if they are unknown. */
export function formatTokenSum(used: UsedTokens): string {
  const tokens = sumTokens(used)
  return tokens === null ? '—' : formatTokens(tokens)
}

/** Formats the sum with its unit: `184k tokens`, or `tokens unknown`. */
export const formatUsedTokens = (used: UsedTokens): string =>
  sumTokens(used) === null ? 'tokens unknown' : `${formatTokenSum(used)} tokens`

/** Formats exact numbers: `1,200 in, 80 out`, with `unknown` for any that the agent didn't report. */
export function formatExactTokens({ input_tokens, output_tokens }: UsedTokens): string {
  const exact = (tokens: number | null) => (tokens === null ? 'unknown' : formatCount(tokens))
  return `${exact(input_tokens)} in, ${exact(output_tokens)} out`
}

/** Formats a price: `$0.84`; below a cent `<$0.01`; `—` if it is unknown. */
export function formatCost(usd: number | null): string {
  if (usd === null) return '—'
  return usd > 0 && usd < 0.01 ? '<$0.01' : `$${usd.toFixed(2)}`
}

/** Formats a sum that may lack unknown prices: `$0.84 or more`. */
export const formatCostSum = (sum: { readonly cost_usd: number | null; readonly incomplete: boolean }): string =>
  `${formatCost(sum.cost_usd)}${sum.incomplete && sum.cost_usd !== null ? ' or more' : ''}`

/** Formats a number with its noun: `1 file`, `9 files`. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${formatCount(n)} ${n === 1 ? one : many}`
}

/** Formats a size in powers of 1,000, like file managers: `0 B`, `840 B`, `1.2 kB`, `214 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const
  let [value, unit] = [bytes, 0]
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1_000
    unit += 1
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1
  return `${trimZero(value.toFixed(digits))} ${units[unit] ?? 'B'}`
}
