import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import type { ModelPrice, Prices } from '../../../src-shared/contract/limits.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { usageError } from '../cli-error.ts'
import { addClientCommand, runCommand, type CommandContext, type CommonOptions } from '../command-context.ts'
import { findProject } from '../find.ts'
import { textOf } from '../prompt.ts'
import { formatTable } from '../table.ts'

interface PriceOptions extends CommonOptions {
  readonly project?: string
  readonly input?: string
  readonly output?: string
  readonly cached?: string
  readonly cacheWrite?: string
  readonly remove?: boolean
  readonly import?: string
}

/** Adds `svc prices`. */
export function addPrices(program: Command): void {
  addClientCommand(program, {
    usage: 'prices [model]',
    summary: 'show what models cost where agents name no cost, or set the prices of a project',
    examples: [
      'svc prices',
      'svc prices claude-opus-5-5',
      'svc prices my-model --input 2 --output 10 --cached 0.2',
      'svc prices my-model --remove',
      'svc prices --import prices.json',
    ],
  })
    .option('--project <project>', 'ID or name; by default that of the folder you are in')
    .option('--input <usd>', 'set the price of a million input tokens')
    .option('--output <usd>', 'set the price of a million output tokens')
    .option('--cached <usd>', 'set the price of a million input tokens from a cache')
    .option('--cache-write <usd>', 'set the price of a million input tokens written to a cache')
    .option('--remove', "remove the project's own price of this model")
    .option('--import <file>', 'set many prices: a JSON file in the form of the setting `prices`; - reads stdin')
    .action((model: string | undefined, options: PriceOptions) =>
      runCommand(options, (scene) => prices(scene, model, options)),
    )
}

async function prices(scene: CommandContext, model: string | undefined, options: PriceOptions): Promise<void> {
  const { client, out } = scene
  const project = await findProject(scene, options.project)
  const project_id = project.id
  const known = await client.call('projects.prices', { project_id, ...(model !== undefined && { model }) })
  const own = await changedPrices(known, model, options)
  if (own !== null) {
    const settings = await client.call('projects.update_settings', { project_id, prices: own })
    await out.answer(
      settings.prices,
      () => `${project.name} has ${Object.keys(settings.prices).length} prices of its own.`,
    )
    return
  }
  await out.answer(known, () => (model === undefined ? listText(known) : foundText(model, known)))
}

/** Returns the project's prices after the change; null if nothing is to be changed. */
async function changedPrices(
  { own, found }: Prices,
  model: string | undefined,
  options: PriceOptions,
): Promise<Prices['own'] | null> {
  if (options.import !== undefined) return { ...own, ...(await readPrices(options.import)) }
  const { input, output, cached, cacheWrite, remove } = options
  const isSet = [input, output, cached, cacheWrite].some((price) => price !== undefined)
  if (!isSet && remove !== true) return null
  if (model === undefined) throw usageError('Name the model: svc prices <model> --input 2 --output 10.')
  if (remove === true) return Object.fromEntries(Object.entries(own).filter(([name]) => name !== model))
  const before = found?.by === 'project' ? found.price : undefined
  const price = {
    ...before,
    ...(input !== undefined && { input_usd_per_mtok: usd(input) }),
    ...(output !== undefined && { output_usd_per_mtok: usd(output) }),
    ...(cached !== undefined && { cached_usd_per_mtok: usd(cached) }),
    ...(cacheWrite !== undefined && { cache_write_usd_per_mtok: usd(cacheWrite) }),
  }
  if (!isWhole(price)) throw usageError('Name the price of input and of output: --input and --output.')
  return { ...own, [model]: price }
}

const isWhole = (price: Partial<ModelPrice>): price is ModelPrice =>
  price.input_usd_per_mtok !== undefined && price.output_usd_per_mtok !== undefined

function usd(text: string): number {
  const price = Number(text)
  if (text.trim() === '' || !(price >= 0)) throw usageError(`${text} is no price. Enter US dollars, like 2.5.`)
  return price
}

async function readPrices(file: string): Promise<Prices['own']> {
  const text = file === '-' ? await textOf(file) : await readFile(file, 'utf8')
  const read = parseJson(text)
  if (typeof read !== 'object' || read === null || Array.isArray(read))
    throw usageError(
      `${file} has no prices. It needs {"<model>": {"input_usd_per_mtok": 2, "output_usd_per_mtok": 10}}.`,
    )
  // The service checks each of them.
  return read as Prices['own']
}

const columns = ['MODEL', 'INPUT', 'CACHED', 'CACHE WRITE', 'OUTPUT', 'FROM']

function listText(known: Prices): string {
  const rows = (prices: Prices['own'], from: string) =>
    Object.entries(prices).map(([model, price]) => [model, ...figures(price), from])
  return [
    formatTable(columns, [...rows(known.own, 'project'), ...rows(known.list, known.list_prices_of)]),
    'In $ for a million tokens. A version that is not listed costs what the nearest one of its family does.',
    `The list is of ${known.list_prices_of}, ${known.days_old} ${known.days_old === 1 ? 'day' : 'days'} old.`,
  ].join('\n')
}

function foundText(model: string, { found, list_prices_of, days_old }: Prices): string {
  if (!found) return `The price of ${model} is unknown. Set it: svc prices ${model} --input 2 --output 10`
  const { by, price, model: entry } = found
  const from = by === 'project' ? 'project' : `${list_prices_of}, ${days_old} days old`
  return [
    formatTable(columns, [[entry, ...figures(price), from]]),
    ...(by === 'family' ? [`${model} is not listed. It counts as ${entry}, the nearest of its family.`] : []),
  ].join('\n')
}

const figures = (price: ModelPrice): string[] =>
  [price.input_usd_per_mtok, price.cached_usd_per_mtok, price.cache_write_usd_per_mtok, price.output_usd_per_mtok].map(
    (usdPerMtok) => (usdPerMtok === undefined ? '' : String(usdPerMtok)),
  )
