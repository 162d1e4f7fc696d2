import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import type { Api } from '../../../src-main/api/api.ts'
import { mcpTools } from '../../../src-main/server/mcp/tools.ts'
import { createStore } from '../../../src-main/store/create-store.ts'
import { openDatabase } from '../../../src-main/store/database.ts'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import { operations, type OperationName } from '../../../src-shared/contract/operations.ts'
import { register } from '../../helpers/membership.ts'
import { projectRoot } from '../../helpers/project-root.ts'
import { runApp, type RunningApp } from '../../helpers/running-app.ts'
import { targetsOf } from '../fuzz/fuzz-requests.ts'
import { inputFor } from './matrix-inputs.ts'
import { callTool, listTools, send, type Asked } from './matrix-requests.ts'
import { buildWorld, createWorlds, type People, type World, type WorldKind } from './matrix-world.ts'

const file = new URL('matrix.txt', import.meta.url)

/** How a refusal is written; one that does not concern rights counts as allowed. */
const marks: Readonly<Record<string, string>> = {
  missing_token: 'T',
  invalid_token: 'I',
  read_only_token: 'R',
  humans_only: 'H',
  needs_person: 'P',
  jwt_required: 'J',
  admin_required: 'A',
  not_a_member: 'M',
  owner_required: 'O',
  forbidden: 'F',
  daemon_token_required: 'D',
  not_found: '-',
}

type Values = Readonly<Record<string, unknown>>

/** One way in, asked over HTTP. `window`: as the operator asks, before any account; null: they can't. */
interface Row {
  readonly title: string
  readonly kind: WorldKind
  readonly ask: (world: World, token: string | null) => Promise<Asked>
  readonly window: ((api: Api, world: World) => Promise<unknown>) | null
}

interface Column extends WorldKind {
  readonly title: string
  readonly token: (tokens: PeopleTokens & World['tokens']) => string | null
}

type PeopleTokens = Readonly<Record<'admin' | 'owner' | 'member' | 'pat' | 'read' | 'stranger', string>>

const operator = 'operator, in the window'
const columns: readonly Column[] = [
  { title: 'nobody', token: () => null },
  { title: operator, token: () => null },
  { title: 'admin', token: ({ admin }) => admin },
  { title: 'owner', token: ({ owner }) => owner },
  { title: 'member', token: ({ member }) => member },
  { title: 'member by PAT', token: ({ pat }) => pat },
  { title: 'owner by read-only PAT', token: ({ read }) => read },
  { title: 'stranger', token: ({ stranger }) => stranger },
  { title: 'agent', token: ({ agent }) => agent },
  { title: 'agent, contained', contained: true, token: ({ agent }) => agent },
  { title: 'agent of another task', token: (tokens) => tokens['agent of another task'] },
  { title: 'agent of another task, contained', contained: true, token: (tokens) => tokens['agent of another task'] },
  { title: 'agent of another project', token: (tokens) => tokens['agent of another project'] },
  { title: 'daemon', token: ({ daemon }) => daemon },
  { title: 'another daemon', token: (tokens) => tokens['another daemon'] },
  { title: 'stranger in a system project', system: true, token: ({ stranger }) => stranger },
]

const isOperation = (name: string): name is OperationName => name in operations

/** Requests whose rights depend on more than the operation. */
const more: readonly (readonly [OperationName, string, (ids: World['ids']) => Values, WorldKind?])[] = [
  ['tasks.create', 'under a task', ({ task_id }) => ({ parent_id: task_id })],
  ['tasks.create', 'ordered', ({ task_id }) => ({ parent_id: task_id, subtask_mode: 'ordered' })],
  ['tasks.create', 'its checks', () => ({ review_config: { ci_steps: ['true'] } })],
  ['tasks.update', 'its checks', () => ({ review_config: { ci_steps: ['true'] } })],
  ['tasks.claim', 'looser agent', ({ loose_agent_id }) => ({ agent_id: loose_agent_id })],
  ['tasks.claim', 'a command', () => ({ overrides: { command: 'true' } })],
  ['tasks.claim', "another's, later", () => ({ overrides: { lock_policy: 'wait' } }), { waiting: true }],
  ['tasks.start_when_ready', "another's", () => ({}), { waiting: true }],
  ['tasks.start_when_ready', 'looser', ({ loose_agent_id }) => ({ agent_id: loose_agent_id })],
]

/** Every route that the running service describes, the requests of `more`, and every MCP tool that it lists. */
async function rowsOf({ url, token }: RunningApp): Promise<readonly Row[]> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Readonly<Record<string, unknown>>
  const targets = targetsOf(document)
  const rows: Row[] = []
  const add = (id: string, what = '', values: (ids: World['ids']) => Values = () => ({}), kind: WorldKind = {}) => {
    const target = targets.find((one) => one.id === id)
    if (target === undefined) throw new Error(`The service does not describe ${id}.`)
    const input = (world: World) => ({
      ...(isOperation(id) ? inputFor(id, world) : others(id, world)),
      ...values(world.ids),
    })
    rows.push({
      title: what === '' ? id : `${id} (${what})`,
      kind,
      ask: (world, by) => send(url, target, input(world), by),
      window: isOperation(id) ? (api, world) => api.call(id, input(world), atWindow) : null,
    })
  }
  for (const { id } of targets) add(id)
  add('events.stream', 'project', ({ project_id }) => ({ project_id }))
  for (const [name, what, values, kind] of more) add(name, what, values, kind)
  for (const { name, takes } of await listTools(url, token)) {
    const tool = (mcpTools as Readonly<Record<string, { readonly operation: OperationName }>>)[name]
    if (tool === undefined) throw new Error(`Nothing is known of the tool ${name}.`)
    const input = (world: World) => {
      const all = { ...inputFor(tool.operation, world), ...(name === 'svc_await_run' && { wait_seconds: 0 }) }
      return Object.fromEntries(Object.entries(all).filter(([key]) => takes.includes(key)))
    }
    rows.push({ title: name, kind: {}, ask: (world, by) => callTool(url, name, input(world), by), window: null })
  }
  return rows
}

/** The input of a route that is no operation. */
function others(id: string, { ids: { execution_id } }: World): Values {
  if (id === 'mcp') return { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
  return id === 'executions.stream' ? { execution_id } : {}
}

/** Aborts at once what is let in. */
const atWindow = { principal: { kind: 'operator' }, signal: AbortSignal.abort(), remote_address: null } as const

async function markInWindow(call: () => Promise<unknown>): Promise<string> {
  try {
    await call()
    return '+'
  } catch (error) {
    return (error instanceof ApiError && marks[error.code]) || '+'
  }
}

async function tokensOf(running: RunningApp): Promise<{ readonly people: People; readonly tokens: PeopleTokens }> {
  const [owner, member, stranger] = await Promise.all([
    register(running, 'Olga'),
    register(running, 'Mia'),
    register(running, 'Sam'),
  ])
  const { id: admin } = await running.client.call('auth.me', {})
  const pat = await member.client.call('auth.create_token', { name: 'full' })
  const read = await owner.client.call('auth.create_token', { name: 'read', scope: 'read' })
  return {
    people: { admin, owner: owner.user_id, member: member.user_id, stranger: stranger.user_id } as People,
    tokens: {
      admin: running.token,
      owner: owner.token,
      member: member.token,
      pat: pat.token,
      read: read.token,
      stranger: stranger.token,
    },
  }
}

test('allows what matrix.txt says; UPDATE_MATRIX=1 accepts a change', async () => {
  await using running = await runApp()
  const database = await openDatabase(
    join(running.dataDir, 'copse.db'),
    resolve(projectRoot, 'src-main/store/migrations'),
  )
  const store = createStore(database)
  const { people, tokens } = await tokensOf(running)
  const lines: string[] = []
  /** Bodies that were refused as such, by what was asked. */
  const invalid = new Set<string>()
  const worlds = createWorlds(database)
  for (const { title, kind: its, ask, window } of await rowsOf(running)) {
    const cells: string[] = []
    for (const { title: who, token, ...column } of columns) {
      const kind = { ...column, ...its }
      const world = worlds(JSON.stringify(kind), () => buildWorld(store, database, people, kind))
      if (who === operator) {
        cells.push(window === null ? '.' : await markInWindow(() => window(running.app.api, world)))
        continue
      }
      const { status, refusal } = await ask(world, token({ ...tokens, ...world.tokens }))
      if (status === 400 && refusal?.code === 'validation_failed') invalid.add(`${title}: ${refusal.message}`)
      cells.push((refusal && marks[refusal.code]) ?? '+')
    }
    // What even an admin does not find is not hidden from anyone.
    const isMissing = cells[2] === '-'
    lines.push(line(title, isMissing ? cells.map((cell) => (cell === '-' ? '+' : cell)) : cells))
  }
  store.close()
  const text = [...heading(), ...lines, ''].join('\n')
  if (process.env['UPDATE_MATRIX'] === '1') await writeFile(file, text)
  expect(text).toBe(await readFile(file, 'utf8'))
  // Both are about the record, and told to those only who may do it.
  expect([...invalid]).toEqual([
    'agents.keep: No run of this agent wrote ~/.nothing.',
    'comments.apply: This comment suggests nothing that can be applied.',
  ])
}, 900_000)

const line = (name: string, cells: readonly string[]) =>
  (name.padEnd(36) + cells.map((cell) => cell.padStart(3)).join('')).trimEnd()

function heading(): string[] {
  return [
    'Who may do what, with valid requests over HTTP. Made by matrix.test.ts; UPDATE_MATRIX=1 writes it anew.',
    '',
    `+ let in, ${Object.entries(marks)
      .map(([code, mark]) => `${mark} ${code}`)
      .join(', ')} (as if it did not exist), . not asked`,
    '',
    ...columns.map(({ title }, index) => `${String(index + 1).padStart(2)} ${title}`),
    '',
    line(
      '',
      columns.map((_, index) => String(index + 1)),
    ),
  ]
}
