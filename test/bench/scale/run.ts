import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import SqliteDatabase from 'better-sqlite3'
import { searchWords } from '../../../src-main/store/search-words.ts'
import type { ProjectId, TaskId } from '../../../src-shared/contract/ids.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { addManyTasks } from '../../helpers/many-tasks.ts'
import type { LoopDelay } from '../loop-delay.ts'
import { spreadOf } from '../measure.ts'
import { isBuilt, openProduct, type Product } from '../product.ts'
import { curveTable, type Curve } from './curves.ts'

/*
 * How the hot operations grow with the installation: tasks of one project, projects, waiting runs. Each operation has its
 * median time and the longest time that it kept the main thread.
 *
 *   npm run bench:scale -- [--tasks 10,1000,100000] [--projects 1,10,100] [--waiting 1,20,200] [--json FILE]
 */
const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '10,1000,100000' },
    projects: { type: 'string', default: '1,10,100' },
    waiting: { type: 'string', default: '1,20,200' },
    json: { type: 'string' },
  },
})
const sizesIn = (text: string) => text.split(',').filter(Boolean).map(Number)
const build = isBuilt() ? 'dist' : 'sources'
const besideModule = new URL('../loop-delay.ts', import.meta.url)
const repeats = 9

type Probe = (what: string, work: () => Promise<unknown>, times?: number) => Promise<void>

/** Measures work at one size of a curve. */
function probeOf(curves: Map<string, Curve>, size: number, product: Product): Probe {
  return async (what, work, times = repeats) => {
    await product.ask('delay')
    const taken: number[] = []
    for (let turn = 0; turn < times; turn++) {
      const began = performance.now()
      await work()
      taken.push(performance.now() - began)
    }
    const { max_ms } = (await product.ask('delay')) as LoopDelay
    put(curves, what, { size, ms: spreadOf(taken).median, blocked_ms: max_ms })
  }
}

function put(curves: Map<string, Curve>, what: string, point: Curve['points'][number]): void {
  const curve = curves.get(what) ?? { what, points: [] }
  curves.set(what, { ...curve, points: [...curve.points, point] })
}

async function withFolder(work: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-scale-'))
  try {
    await work(dataDir)
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Nine of ten tasks are done, the others stand in the two first columns. */
const stateOf = (index: number) => (index % 10 === 0 ? (index % 20 === 0 ? 'backlog' : 'todo') : 'done')

async function growTasks(count: number, repoPath: string, curves: Map<string, Curve>): Promise<void> {
  await withFolder(async (dataDir) => {
    const file = join(dataDir, 'copse.db')
    let project_id: ProjectId
    {
      await using product = await openProduct(build, dataDir)
      const project = await product.client.call('projects.create', { name: 'Big', repo_path: repoPath })
      project_id = project.id
    }
    fill(file, project_id, count)
    console.error(`${count} tasks, ${((await stat(file)).size / 1e6).toFixed(0)} MB`)
    const starts: number[] = []
    // Without the first one after the bench has written.
    for (let start = 0; start < 6; start++) {
      const began = performance.now()
      await using product = await openProduct(build, dataDir)
      if (start > 0) starts.push(product.listeningAt - began)
    }
    put(curves, 'start until it listens', { size: count, ms: spreadOf(starts).median, blocked_ms: 0 })
    const began = performance.now()
    await using product = await openProduct(build, dataDir, besideModule)
    put(curves, 'start until signed in', { size: count, ms: performance.now() - began, blocked_ms: 0 })
    const probe = probeOf(curves, count, product)
    const { client } = product
    const list = (more: object) => client.call('tasks.list', { project_id, limit: 50, ...more })
    await probe('board', () => client.call('tasks.board', { project_id }))
    await probe('list, first page', () => list({}))
    await probe('list with archived tasks', () => list({ include_archived: true }))
    await probe('list of one state', () => list({ status: 'done' }))
    await probe('search, a word of many tasks', () => list({ q: 'login' }))
    await probe('search, two words', () => list({ q: 'reset number' }))
    await probe('search, a word of no task', () => list({ q: 'zebra' }))
    await probe('usage of the project', () => client.call('projects.usage', { project_id }))
    await probe('projects', () => client.call('projects.list', {}))
    await probe('queue', () => client.call('projects.queue', { project_id }))
    const made: TaskId[] = []
    await probe('create a task', async () => {
      made.push((await client.call('tasks.create', { project_id, title: 'One more of them' })).id)
    })
    await probe('one task', () => client.call('tasks.get', { task_id: made[0] ?? '' }))
    const waiting = [...made]
    await probe('move a task', async () => {
      const task = await client.call('tasks.get', { task_id: waiting.pop() ?? '' })
      await client.call('tasks.transition', { task_id: task.id, status: 'todo', version: task.version })
    })
    const agent = await client.call('agents.create', {
      name: 'Writer',
      executor: 'command',
      config: { command: 'exec sleep 600' },
    })
    await client.call('projects.update_settings', { project_id, max_concurrent_executions: 1 })
    const claimed = [...made]
    await probe('claim a task', () => client.call('tasks.claim', { task_id: claimed.pop() ?? '', agent_id: agent.id }))
    for (const task_id of made) await client.call('tasks.cancel', { task_id })
    // Its rows go in the background, in small steps, for as long as it takes: what counts is that nobody is kept waiting.
    await probe('delete the project, and 5 s after', () => client.call('projects.delete', { project_id }), 1)
    await product.ask('delay')
    await setTimeout(5_000)
    const { max_ms } = (await product.ask('delay')) as LoopDelay
    const curve = curves.get('delete the project, and 5 s after')
    const last = curve?.points.at(-1)
    if (curve && last) {
      const blocked = { ...last, blocked_ms: Math.max(last.blocked_ms, max_ms) }
      curves.set(curve.what, { ...curve, points: [...curve.points.slice(0, -1), blocked] })
    }
  })
}

function fill(file: string, project_id: ProjectId, count: number): void {
  const client = new SqliteDatabase(file)
  client.function('search_words', (title, text) => searchWords(`${String(title)}\n${String(text)}`))
  client.pragma('synchronous = OFF')
  addManyTasks(client, { project_id, count, promptBytes: 4_000, stateOf })
  client.close()
}

async function growProjects(count: number, repoPath: string, curves: Map<string, Curve>): Promise<void> {
  await withFolder(async (dataDir) => {
    await using product = await openProduct(build, dataDir, besideModule)
    const { client } = product
    const ids: ProjectId[] = []
    for (let number = 0; number < count; number++) {
      const { id } = await client.call('projects.create', { name: `Project ${number}`, repo_path: repoPath })
      ids.push(id)
      for (const title of ['First', 'Second']) await client.call('tasks.create', { project_id: id, title })
    }
    const [first = ''] = ids
    const probe = probeOf(curves, count, product)
    await probe('projects', () => client.call('projects.list', {}))
    await probe('board of one project', () => client.call('tasks.board', { project_id: first }))
    await probe('notifications', () => client.call('notifications.list', {}))
    await probe('create a task', () => client.call('tasks.create', { project_id: first, title: 'One more' }))
  })
}

async function growWaiting(count: number, repoPath: string, curves: Map<string, Curve>): Promise<void> {
  await withFolder(async (dataDir) => {
    await using product = await openProduct(build, dataDir, besideModule)
    const { client } = product
    const { id: project_id } = await client.call('projects.create', { name: 'Queue', repo_path: repoPath })
    await client.call('projects.update_settings', { project_id, max_concurrent_executions: 1 })
    const config = { command: 'exec sleep 600' }
    const { id: agent_id } = await client.call('agents.create', { name: 'Slow', executor: 'command', config })
    const claim = async () => {
      const { id: task_id } = await client.call('tasks.create', { project_id, title: 'Waits' })
      await client.call('tasks.claim', { task_id, agent_id })
    }
    for (let number = 0; number <= count; number++) await claim()
    const probe = probeOf(curves, count, product)
    await probe('create and claim', claim)
    await probe('queue', () => client.call('projects.queue', { project_id }))
    await probe('board', () => client.call('tasks.board', { project_id }))
  })
}

await using repository = await createTestRepository()
const axes = [
  { axis: 'tasks of one project', sizes: sizesIn(values.tasks), grow: growTasks },
  { axis: 'projects', sizes: sizesIn(values.projects), grow: growProjects },
  { axis: 'waiting runs', sizes: sizesIn(values.waiting), grow: growWaiting },
]
const results: Record<string, readonly Curve[]> = {}
for (const { axis, sizes, grow } of axes) {
  const curves = new Map<string, Curve>()
  for (const size of sizes) await grow(size, repository.path, curves)
  if (sizes.length > 0) results[axis] = [...curves.values()]
  if (sizes.length > 0) process.stdout.write(`${curveTable(axis, [...curves.values()])}\n`)
}
if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(results, null, 2)}\n`)
