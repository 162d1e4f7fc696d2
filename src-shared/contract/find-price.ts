import type { ModelPrice } from './limits.ts'
import { listPrices } from './list-prices.ts'

type Prices = Readonly<Record<string, ModelPrice>>

/** The price of a model, and whose price that is. */
export interface FoundPrice {
  readonly price: ModelPrice
  /** The entry that was taken. */
  readonly model: string
  /** `project`: the project's own. `list`: the list names the model. `family`: of the nearest version in the list. */
  readonly by: 'project' | 'list' | 'family'
}

/** Returns the price of a model; null if its family is unknown. The project's `prices` come first. */
export function findPrice(model: string, prices: Prices): FoundPrice | null {
  const own = Object.hasOwn(prices, model) ? prices[model] : undefined
  if (own) return { price: own, model, by: 'project' }
  const name = plainName(model)
  const ownName = Object.keys(prices).find((one) => plainName(one) === name)
  const ownPrice = ownName === undefined ? undefined : prices[ownName]
  if (ownName !== undefined && ownPrice) return { price: ownPrice, model: ownName, by: 'project' }
  const list = listed()
  // A model for coding costs what its version costs otherwise.
  const exact = [name, name.replace(/-codex(?:-max)?$/, '')].map((one) => list.find((row) => row.name === one))
  const found = exact.find((row) => row !== undefined)
  if (found) return { price: found.price, model: found.model, by: found.name === name ? 'list' : 'family' }
  const kin = nearest(name, list)
  return kin && { price: kin.price, model: kin.model, by: 'family' }
}

interface Listed {
  readonly model: string
  readonly name: string
  readonly family: string
  readonly version: readonly number[]
  readonly price: ModelPrice
}

let rows: readonly Listed[] | null = null

const listed = (): readonly Listed[] =>
  (rows ??= Object.entries(listPrices).map(([model, price]) => {
    const name = plainName(model)
    return { model, name, price, ...splitName(name) }
  }))

/**
 * Returns a model's name without what does not change its price: the provider before it, a date, a region, a window
 * behind it. Versions have dashes: `us.anthropic.claude-opus-4.5-20251101-v1:0` is `claude-opus-4-5`.
 */
function plainName(model: string): string {
  let name = model
    .toLowerCase()
    .replace(/^.*\//, '')
    .replace(/^(?:[a-z]+\.)+(?=[a-z])/, '')
    .replace(/\[.*\]$|@.*$/g, '')
    .replace(/-v\d+:\d+$|:[a-z-]+$/, '')
    .replaceAll(/(?<=\d)\.(?=\d)/g, '-')
  let before: string
  do {
    before = name
    name = name
      .replace(/-20\d{2}-?\d{2}-?\d{2}$|-\d{2}-20\d{2}$|-\d{4}$/, '')
      .replace(/-(?:preview|latest|exp|experimental|customtools|thinking)$/, '')
  } while (name !== before)
  return name
}

/** Separates the words of a name from its version; their order differs: `claude-3-5-haiku`, `claude-haiku-4-5`. */
function splitName(name: string): Pick<Listed, 'family' | 'version'> {
  const words: string[] = []
  const version: number[] = []
  for (const part of name.split('-')) {
    const [, word = '', digits] = /^([a-z]*)(\d+)$/.exec(part) ?? []
    if (digits === undefined) words.push(part)
    else {
      if (word !== '') words.push(word)
      version.push(Number(digits))
    }
  }
  return { family: words.join('-'), version }
}

/** Names that stand for the newest version of a family. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['opus', 'claude-opus'],
  ['sonnet', 'claude-sonnet'],
  ['haiku', 'claude-haiku'],
  ['fable', 'claude-fable'],
  ['opusplan', 'claude-opus'],
])

/** Returns the newest version of the family that is not newer than the model, or else the oldest. */
function nearest(name: string, list: readonly Listed[]): Listed | null {
  const { family, version } = splitName(aliases.get(name) ?? name)
  const kin = list.filter((row) => row.family === family).toSorted((one, other) => compare(one.version, other.version))
  if (version.length === 0) return kin.at(-1) ?? null
  return kin.findLast((row) => compare(row.version, version) <= 0) ?? kin[0] ?? null
}

function compare(one: readonly number[], other: readonly number[]): number {
  const length = Math.max(one.length, other.length)
  const at = Array.from({ length }, (_, index) => (one[index] ?? 0) - (other[index] ?? 0))
  return at.find((difference) => difference !== 0) ?? 0
}
