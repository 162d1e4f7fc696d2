import type { BenchRow, Setting } from './row.ts'

export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

export interface RowResult {
  readonly name: string
  readonly unit: string
  readonly better: 'higher' | 'lower'
  readonly rounds: number
  /** Medians of the rounds. */
  readonly product: number
  readonly floor: number
  /** Median of each round's product / floor, or product - floor: what the machine does beside is in both sides. */
  readonly ratio: number
  readonly goal: number
  readonly passed: boolean
  readonly spread: { readonly product: Spread; readonly floor: Spread; readonly ratio: Spread }
}

/** A row that could not be measured, or whose work was not what it should be. */
export interface BrokenRow {
  readonly name: string
  readonly passed: false
  readonly error: string
}

/** Measures both sides in turn, product, floor, product, floor …, so that a slow minute slows both. */
export async function measure(row: BenchRow, setting: Setting): Promise<RowResult> {
  const { warmUp, measured } = row.rounds[setting.scale]
  await using contest = await row.prepare(setting)
  const rounds: { readonly product: number; readonly floor: number }[] = []
  for (let round = 0; round < warmUp + measured; round++) {
    const values = { product: await contest.product(), floor: await contest.floor() }
    setting.say(
      `  ${round < warmUp ? 'warm-up' : `round ${round - warmUp + 1}`}: ` +
        `product ${format(values.product)}, floor ${format(values.floor)} ${row.unit}`,
    )
    if (round >= warmUp) rounds.push(values)
  }
  await contest.verify()
  const spread = {
    product: spreadOf(rounds.map((one) => one.product)),
    floor: spreadOf(rounds.map((one) => one.floor)),
    ratio: spreadOf(rounds.map((one) => (row.compare ? one.product - one.floor : one.product / one.floor))),
  }
  const ratio = spread.ratio.median
  return {
    name: row.name,
    unit: row.unit,
    better: row.better,
    rounds: measured,
    product: spread.product.median,
    floor: spread.floor.median,
    ratio,
    goal: row.goal,
    passed: row.better === 'higher' ? ratio >= row.goal : ratio <= row.goal,
    spread,
  }
}

/** Median and extremes. Throws for no values. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  const [min, max] = [sorted[0], sorted.at(-1)]
  if (low === undefined || high === undefined || min === undefined || max === undefined) {
    throw new Error('No round was measured.')
  }
  return { median: (low + high) / 2, min, max }
}

/** A value short enough for a table. */
export function format(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2)
}
