import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import { titleLines } from '../../../src-shared/contract/title-lines.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { usageError } from '../cli-error.ts'
import type { CommandContext } from '../command-context.ts'
import { findTask } from '../find.ts'
import { readFileArgument } from '../read-file-argument.ts'

type Item = OperationInput<'tasks.create_many'>['items'][number]

/** Creates the tasks of a list, with `fields` where an item does not say otherwise. */
export async function createMany(
  scene: CommandContext,
  project_id: string,
  from: string,
  fields: Partial<Item>,
): Promise<void> {
  const listed = itemsIn(await readFileArgument(scene, from))
  if (listed.length === 0) throw usageError('The list is empty. Write a title on each line, or JSON.')
  const keys = new Set(listed.map(({ key }) => key))
  const items: Item[] = []
  for (const item of listed) items.push({ ...fields, ...item, ...(await dependenciesOf(scene, item, keys)) })
  const answer = await scene.client.call('tasks.create_many', { project_id, items })
  const [first, last] = [answer.items[0]?.ref ?? '', answer.items.at(-1)?.ref ?? '']
  await scene.out.answer(answer, () =>
    answer.items.length === 1 ? `Created ${first}.` : `Created ${answer.items.length} tasks, ${first} to ${last}.`,
  )
}

/** Reads a JSON array, a JSON object a line, or a title a line. The service checks what the objects hold. */
function itemsIn(text: string): readonly Item[] {
  const start = text.trimStart()[0]
  if (start === '[' && parseJson(text) !== undefined) return parseJson(text) as Item[]
  if (start !== '{') return titleLines(text).map((title) => ({ title }))
  return text.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === '') return []
    const item = parseJson(line)
    if (typeof item !== 'object') throw usageError(`Line ${index + 1} of the list is not JSON.`)
    return [item as Item]
  })
}

/** A name that is no key of the list is a task that exists. */
async function dependenciesOf(
  scene: CommandContext,
  { depends_on }: Item,
  keys: ReadonlySet<string | undefined>,
): Promise<Pick<Item, 'depends_on'>> {
  if (!Array.isArray(depends_on)) return {}
  const names: string[] = []
  for (const name of depends_on) names.push(keys.has(name) ? name : (await findTask(scene, name)).id)
  return { depends_on: names }
}
