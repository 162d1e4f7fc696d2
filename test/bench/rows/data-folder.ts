import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import type { AgentId, ProjectId, TaskId } from '../../../src-shared/contract/ids.ts'
import { eventually } from '../../helpers/eventually.ts'
import { hasCode } from '../../../src-main/git/files/file-errors.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { memoryFolder } from '../memory-folder.ts'
import { startProduct, type Product } from '../product.ts'
import type { BenchRow, Contest, Setting } from '../row.ts'
import { someAtOnce } from '../some-at-once.ts'

const sizes = { full: { lives: 16, lines: 1_200 }, quick: { lives: 1, lines: 20 } } as const
const slots = 4
const megabyte = 1024 * 1024

/**
 * What the data folder holds for 1,000 tasks, each of which was written, claimed, worked on by an agent that says some
 * 150 KB, checked by one CI step, reviewed and merged. A round lives 16 such lives, four at a time, and takes what the
 * folder has grown by for its share; the events, which end at 20,000, are counted as if they went on. The floor is the
 * same content once, as plain files: what the agent said, what CI said, and what the API answers of the task. What the
 * product keeps besides: the transcript as entries beside the raw bytes, which makes two of what the agent said, the
 * events for clients that were away, and the indexes by which it finds things. On both sides it is what the disk gives for it, in whole blocks. The run fails when
 * a worktree is left.
 */
export const dataFolder: BenchRow = {
  name: 'data-dir-1000-tasks',
  unit: 'MB',
  better: 'lower',
  goal: 2.5,
  rounds: { full: { warmUp: 1, measured: 2 }, quick: { warmUp: 0, measured: 1 } },
  prepare,
}

async function prepare({ scale, build, say }: Setting): Promise<Contest> {
  const { lives, lines } = sizes[scale]
  await using opened = new AsyncDisposableStack()
  const within = await memoryFolder()
  const repository = opened.use(await createTestRepository({ within }))
  const product = opened.use(await startProduct(build, within))
  const { client } = product
  const said = join(repository.beside, 'said.txt')
  const checked = join(repository.beside, 'checked.txt')
  await writeFile(said, transcriptOf(lines))
  await writeFile(checked, transcriptOf(25))
  const { id: project_id } = await client.call('projects.create', { name: 'Lives', repo_path: repository.path })
  await client.call('projects.update_settings', { project_id, max_concurrent_executions: slots })
  const command = `cat '${said}'; echo work > "$SVC_TASK_ID.txt"; git add --all; git commit --quiet --message Work`
  const { id: agent_id } = await client.call('agents.create', { name: 'One', executor: 'command', config: { command } })
  const review_config = { ci_steps: [`cat '${checked}'`] }
  let finished: readonly TaskId[] = []
  const owned = opened.move()
  return {
    product: async () => {
      const before = await sizeOfData(product)
      finished = await manyLives(product, { project_id, agent_id, review_config }, lives)
      return (((await sizeOfData(product)) - before) / lives) * (1_000 / megabyte)
    },
    floor: async () => {
      const folder = join(repository.beside, 'floor')
      for (const task_id of finished) await writePlainly(product, task_id, folder, { said: lines, checked: 25 })
      const each = (await sizeBelow(folder)) / (await readdir(folder)).length
      say(`  a life is ${(each / 1024).toFixed(0)} KB as plain files`)
      return each * (1_000 / megabyte)
    },
    verify: async () => {
      const left = await readdir(join(product.dataDir, 'workspaces', project_id))
      if (left.length > 0) throw new Error(`${left.length} worktrees are left.`)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

interface Life {
  readonly project_id: ProjectId
  readonly agent_id: AgentId
  readonly review_config: { readonly ci_steps: string[] }
}

/** Some tasks from their first word to the merge; answers which. */
const manyLives = (product: Product, life: Life, count: number): Promise<readonly TaskId[]> =>
  someAtOnce(count, slots, (number) => live(product, life, `Sort the list of orders by date, part ${number}`))

async function live({ client }: Product, { agent_id, ...life }: Life, title: string): Promise<TaskId> {
  const { id: task_id } = await client.call('tasks.create', { ...life, title, description: transcriptOf(10) })
  await client.call('tasks.claim', { task_id, agent_id })
  const { version } = await eventually(
    client,
    () => client.call('tasks.get', { task_id }),
    (task) => task.review_passed_at !== null && !task.entry_barrier,
  )
  const { task } = await client.call('tasks.transition', { task_id, status: 'merging', version })
  if (task.status !== 'done') throw new Error(`A task came to ${task.status}: ${JSON.stringify(task.error_annotation)}`)
  await eventually(
    client,
    () => client.call('tasks.workspace', { task_id }),
    ({ status }) => status === 'cleaned',
  )
  return task_id
}

/** One task's content, each of it once. */
async function writePlainly(
  { client }: Product,
  task_id: TaskId,
  within: string,
  lines: { readonly said: number; readonly checked: number },
): Promise<void> {
  const folder = join(within, task_id)
  await mkdir(folder, { recursive: true })
  const records = await Promise.all([
    client.call('tasks.get', { task_id }),
    client.call('tasks.executions', { task_id }),
    client.call('tasks.reviews', { task_id }),
    client.call('tasks.transitions', { task_id }),
  ])
  await writeFile(join(folder, 'said.txt'), transcriptOf(lines.said))
  await writeFile(join(folder, 'checked.txt'), transcriptOf(lines.checked))
  await writeFile(join(folder, 'records.json'), JSON.stringify(records))
}

/** Of all that stays: the journal of the database is written back first, as it is when the service ends. */
async function sizeOfData({ dataDir }: Product): Promise<number> {
  const database = new SqliteDatabase(join(dataDir, 'copse.db'))
  database.pragma('wal_checkpoint(TRUNCATE)')
  database.close()
  return await sizeBelow(dataDir)
}

/** What the disk gives for all files, in whole blocks. Reads again if a scratch folder is removed in between. */
async function sizeBelow(folder: string, tries = 5): Promise<number> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile() && !/-(wal|shm)$/.test(entry.name))
    const all = await Promise.all(files.map(({ parentPath, name }) => stat(join(parentPath, name))))
    return all.reduce((sum, { blocks }) => sum + blocks * 512, 0)
  } catch (error) {
    if (tries > 1 && hasCode(error, 'ENOENT')) return await sizeBelow(folder, tries - 1)
    throw error
  }
}

/** Lines as an agent says them, each with something of its own: some 125 characters on average. */
function transcriptOf(lines: number): string {
  const word = (number: number) => words[(number * 7919) % words.length] ?? ''
  return Array.from({ length: lines }, (_, line) => {
    const count = 6 + ((line * 31) % 24)
    return `${line}: ${Array.from({ length: count }, (_, at) => word(line + at * at)).join(' ')}\n`
  }).join('')
}

const words =
  'reads the list of orders in src/orders/list.ts and finds sortBy(date) which compares texts where numbers are meant then edits two files runs npm test and looks at what failed before it goes on'.split(
    ' ',
  )
