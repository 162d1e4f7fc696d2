import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createRequire } from 'node:module'
import type SqliteDatabase from 'better-sqlite3'
import { addManyTasks } from '../../helpers/many-tasks.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'

/*
 * How the service does with a large database: a start after a clean and after an unclean end, lists, searches, sums,
 * claims with 200 waiting ones, and the deletion of the project.
 *
 *   node test/bench/big-data/run.ts [checkout] [--tasks 100000] [--prompt 12000]
 *
 * Another checkout is measured with its own code and its own dependencies, so that before and after can be compared.
 */
const args = process.argv.slice(2)
const option = (name: string, fallback: number) => {
  const at = args.indexOf(`--${name}`)
  return at === -1 ? fallback : Number(args[at + 1])
}
const root = resolve(args[0]?.startsWith('--') === false ? args[0] : '.')
const tasks = option('tasks', 100_000)
const promptBytes = option('prompt', 12_000)
const Database = createRequire(join(root, 'package.json'))('better-sqlite3') as typeof SqliteDatabase
const dataDir = await mkdtemp(join(tmpdir(), 'copse-big-'))
const file = join(dataDir, 'copse.db')
let child: ChildProcess | null = null
let url = ''
let token = ''

const row = (what: string, value: number, unit = 'ms') => {
  process.stdout.write(`${what.padEnd(56)} ${value.toFixed(value < 10 ? 2 : 0).padStart(9)} ${unit}\n`)
}

async function start(): Promise<number> {
  child = fork(join(import.meta.dirname, 'service.ts'), [root, dataDir], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [ready] = (await once(child, 'message')) as [{ readonly url: string; readonly start_ms: number }]
  url = ready.url
  return ready.start_ms
}

async function end(signal: 'close' | 'SIGKILL'): Promise<void> {
  if (!child) return
  const ending = child
  child = null
  const exited = once(ending, 'exit')
  if (signal === 'close') ending.send('close')
  else ending.kill(signal)
  await exited
}

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const answer = await fetch(`${url}/api/v1${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok && answer.status !== 404) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return (text === '' ? { status: answer.status } : JSON.parse(text)) as T
}

/** The median of five. */
async function timed(what: string, work: () => Promise<unknown>): Promise<void> {
  const times: number[] = []
  for (let i = 0; i < 5; i++) {
    const began = performance.now()
    await work()
    times.push(performance.now() - began)
  }
  row(what, times.toSorted((a, b) => a - b)[2] ?? NaN)
}

/** Nothing of the file is in memory any more, where this process may say so. */
async function forgetFile(): Promise<void> {
  await writeFile('/proc/sys/vm/drop_caches', '3').catch(() => undefined)
}

const person = { email: 'bench@copse.test', password: 'correct horse', display_name: 'Bench' }
await using repository = await createTestRepository()
try {
  await start()
  token = (await call<{ access_token: string }>('POST', '/auth/register', person)).access_token
  const project = await call<{ id: string }>('POST', '/projects', { name: 'Big', repo_path: repository.path })
  await end('close')
  const client = new Database(file)
  const module = (await import(join(root, 'src-main/store/search-words.ts')).catch(() => null)) as {
    searchWords(text: string): string
  } | null
  if (module) client.function('search_words', (title, text) => module.searchWords(`${title}\n${text}`))
  client.pragma('synchronous = OFF')
  const filled = performance.now()
  addManyTasks(client, { project_id: project.id, count: tasks, promptBytes })
  client.close()
  row(`${tasks} tasks written by the bench`, performance.now() - filled)
  row('the database', (await stat(file)).size / 1e6, 'MB')

  await start()
  await end('close')
  await forgetFile()
  row('start after a clean end, nothing cached', await start())
  await end('close')
  row('start after a clean end, cached', await start())
  await end('SIGKILL')
  await forgetFile()
  row('start after a kill, nothing cached', await start())
  token = (await call<{ access_token: string }>('POST', '/auth/login', person)).access_token
  await setTimeout(1_000)

  const list = (query: string) => call('GET', `/projects/${project.id}/tasks?limit=50&${query}`)
  await timed('list, first page', () => list(''))
  await timed('list with archived ones, first page', () => list('include_archived=true'))
  await timed('list by status', () => list('status=done'))
  await timed('search, a word of many tasks', () => list('q=login'))
  await timed('search, two words', () => list('q=reset%20number'))
  await timed('search, a word of one task', () => list(`q=${tasks - 1}`))
  await timed('search, a word of none', () => list('q=zebra'))
  await timed('usage of the project', () => call('GET', `/projects/${project.id}/usage`))

  const small = await call<{ id: string }>('POST', '/projects', { name: 'Small', repo_path: repository.path })
  await call('PATCH', `/projects/${small.id}/settings`, { max_concurrent_executions: 1 })
  const config = { command: 'sleep 600' }
  const agent = await call<{ id: string }>('POST', '/agents', { name: 'Slow', executor: 'command', config })
  const claimTimes: number[] = []
  for (let i = 0; i < 220; i++) {
    const task = await call<{ id: string }>('POST', `/projects/${small.id}/tasks`, { title: `Claimed ${i}` })
    const began = performance.now()
    const overrides = { prompt: 'Do it. '.repeat(15_000) }
    await call('POST', `/tasks/${task.id}/claim`, { agent_id: agent.id, overrides })
    claimTimes.push(performance.now() - began)
    // Its worktree is made meanwhile.
    await setTimeout(40)
  }
  const median = (times: readonly number[]) => times.toSorted((a, b) => a - b)[times.length >> 1] ?? NaN
  row('a claim with 100 KB of prompt, the first 20', median(claimTimes.slice(0, 20)))
  row('a claim with 100 KB of prompt, 200 waiting', median(claimTimes.slice(200)))
  await timed('the queue with 220 waiting', () => call('GET', `/projects/${small.id}/queue`))

  let slowest = 0
  let isOver = false
  const watch = (async () => {
    while (!isOver) {
      const began = performance.now()
      await (await fetch(`${url}/healthz`)).text()
      slowest = Math.max(slowest, performance.now() - began)
      await setTimeout(5)
    }
  })()
  await setTimeout(5_000)
  row('the slowest /healthz of five quiet seconds before', slowest)
  slowest = 0
  const began = performance.now()
  await call('DELETE', `/projects/${project.id}`)
  row('deletion of the project, its answer', performance.now() - began)
  const look = new Database(file, { readonly: true })
  const left = look.prepare('SELECT count(*) FROM projects WHERE id = ?').pluck()
  while (left.get(project.id) !== 0) await setTimeout(200)
  look.close()
  row('deletion of the project, until nothing is left', performance.now() - began)
  isOver = true
  await watch
  row('the slowest /healthz meanwhile', slowest)
  await end('close')
} finally {
  await end('SIGKILL')
  await rm(dataDir, { recursive: true, force: true })
}
process.exit(0)
