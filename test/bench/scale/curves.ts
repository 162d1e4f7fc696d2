/** One operation's times at growing sizes. */
export interface Curve {
  readonly what: string
  readonly points: readonly {
    readonly size: number
    /** Median. */
    readonly ms: number
    /** The longest time for which the main thread did nothing else, within some 10 ms. */
    readonly blocked_ms: number
  }[]
}

/**
 * The exponent between the two largest sizes: 0 is flat, 1 is linear. What takes less than a millisecond more has none:
 * it would be that of the noise.
 */
export function exponentOf({ points }: Curve): number | null {
  const [before, last] = points.slice(-2)
  if (!before || !last || last.ms - before.ms < 1) return null
  return Math.log(last.ms / before.ms) / Math.log(last.size / before.size)
}

/** A table in Markdown: a row an operation, a column a size, the exponent, and the longest block at the largest size. */
export function curveTable(axis: string, curves: readonly Curve[]): string {
  const sizes = curves[0]?.points.map(({ size }) => size.toLocaleString('en')) ?? []
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const short = (ms: number) => ms.toFixed(ms < 10 ? 1 : 0)
  return [
    row([`ms by ${axis}`, ...sizes, 'exponent', 'longest block']),
    row(['---', ...sizes.map(() => '---:'), '---:', '---:']),
    ...curves.map((curve) =>
      row([
        curve.what,
        ...curve.points.map(({ ms }) => short(ms)),
        exponentOf(curve)?.toFixed(2) ?? 'flat',
        short(curve.points.at(-1)?.blocked_ms ?? 0),
      ]),
    ),
    '',
  ].join('\n')
}
