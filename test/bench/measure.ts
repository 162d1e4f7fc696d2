import type { BenchRow, Setting } from './row.ts'

export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** Where the median is with at least 93 % certainty, as far as the rounds tell. */
export interface Interval {
  readonly low: number
  readonly high: number
}

/** `unclear`: the goal lies within what the rounds leave open. */
export type Verdict = 'met' | 'missed' | 'unclear'

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
  readonly interval: Interval
  readonly goal: number
  readonly verdict: Verdict
  readonly spread: { readonly product: Spread; readonly floor: Spread }
}

/** A row that could not be measured, or whose work was not what it should be. */
export interface BrokenRow {
  readonly name: string
  readonly error: string
}

/** So many rounds are measured at least, where the row has as many. */
const minRounds = 3
/** Of so many the interval tells where the median is; of fewer it is taken for three times as wide. */
const enoughRounds = 5
/** Once a row's rounds took so long, it has no further ones. */
const budgetMs = 8_000

/**
 * Measures both sides in turn, product, floor, product, floor …, so that a slow minute slows both. Ends as soon as the
 * verdict is clear, or the row has had its time.
 */
export async function measure(row: BenchRow, setting: Setting): Promise<RowResult> {
  const { warmUp, measured } = row.rounds[setting.scale]
  const asked = performance.now()
  await using contest = await row.prepare(setting)
  setting.say(`  ready after ${((performance.now() - asked) / 1_000).toFixed(1)} s`)
  const rounds: { readonly product: number; readonly floor: number }[] = []
  const ratios = () => rounds.map(({ product, floor }) => (row.compare ? product - floor : product / floor))
  const began = performance.now()
  for (let round = 0; round < warmUp + measured; round++) {
    const values = { product: await contest.product(), floor: await contest.floor() }
    setting.say(
      `  ${round < warmUp ? 'warm-up' : `round ${round - warmUp + 1}`}: ` +
        `product ${format(values.product)}, floor ${format(values.floor)} ${row.unit}`,
    )
    if (round >= warmUp) rounds.push(values)
    if (rounds.length < Math.min(minRounds, measured) || setting.scale === 'quick') continue
    if (performance.now() - began > budgetMs || isClear(row, intervalOf(ratios()), rounds.length)) break
  }
  await contest.verify()
  const interval = intervalOf(ratios())
  const spread = {
    product: spreadOf(rounds.map(({ product }) => product)),
    floor: spreadOf(rounds.map(({ floor }) => floor)),
  }
  return {
    name: row.name,
    unit: row.unit,
    better: row.better,
    rounds: rounds.length,
    product: spread.product.median,
    floor: spread.floor.median,
    ratio: spreadOf(ratios()).median,
    interval,
    goal: row.goal,
    verdict: setting.scale === 'quick' ? 'unclear' : verdictOf(row, interval),
    spread,
  }
}

/** A row is met or missed when its whole interval is on that side of the goal. */
export function verdictOf({ better, goal }: Pick<BenchRow, 'better' | 'goal'>, { low, high }: Interval): Verdict {
  const [worst, best] = better === 'higher' ? [low, high] : [-high, -low]
  const needed = better === 'higher' ? goal : -goal
  return worst >= needed ? 'met' : best < needed ? 'missed' : 'unclear'
}

/** Whether further rounds would not change the verdict. */
function isClear(row: BenchRow, { low, high }: Interval, rounds: number): boolean {
  const margin = rounds < enoughRounds ? high - low : 0
  return verdictOf(row, { low: low - margin, high: high + margin }) !== 'unclear'
}

/** The interval between two order statistics that has the median with 95 % certainty; of five or fewer, all of them. */
export function intervalOf(values: readonly number[]): Interval {
  const sorted = values.toSorted((a, b) => a - b)
  const { length } = sorted
  // So many of the lowest and of the highest values are left out: each further one adds its binomial probability.
  let out = 0
  let chance = 0.5 ** length
  for (let tail = chance; 2 * (tail + (chance * (length - out)) / (out + 1)) <= 0.05;) {
    chance *= (length - out) / (out + 1)
    tail += chance
    out += 1
  }
  const [low, high] = [sorted[out], sorted[length - 1 - out]]
  if (low === undefined || high === undefined) throw new Error('No round was measured.')
  return { low, high }
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
