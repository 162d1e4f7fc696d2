import { join, resolve } from 'node:path'
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { decodeJwt } from 'jose'
import { v7 } from 'uuid'
import { expect, test, vi } from 'vitest'
import { runCli } from '../../src-main/cli/program.ts'
import { answerCall } from '../../src-main/desktop/answer-call.ts'
import type { Principal } from '../../src-main/domain/access/principal.ts'
import type { Store } from '../../src-main/ports/store.ts'
import { mcpTools } from '../../src-main/server/mcp/tools.ts'
import { createStore } from '../../src-main/store/create-store.ts'
import { openDatabase } from '../../src-main/store/database.ts'
import { createClient, type Client } from '../../src-shared/client/create-client.ts'
import { createIpcTransport } from '../../src-shared/client/ipc-transport.ts'
import type { DesktopBridge } from '../../src-shared/contract/desktop.ts'
import { ApiError, type Refusal } from '../../src-shared/contract/errors.ts'
import type { ExecutionId, SessionId, TaskId, UserId } from '../../src-shared/contract/ids.ts'
import { operations, type OperationName } from '../../src-shared/contract/operations.ts'
import { register, type Person } from '../helpers/membership.ts'
import { projectRoot } from '../helpers/project-root.ts'
import { runApp, type RunningApp } from '../helpers/running-app.ts'
import { strictClient } from '../helpers/strict-client.ts'
import { inputFor } from '../integration/access/matrix-inputs.ts'
import { endOf, startSvc } from '../integration/cli/svc-process.ts'
import { buildWorld, createWorlds, type People, type World } from '../integration/access/matrix-world.ts'

type Values = Readonly<Record<string, unknown>>
type Who = 'owner' | 'member' | 'stranger'

/** One way to call an operation; null if it has none. */
interface Case {
  readonly what: string
  readonly who?: Who
  readonly input: (name: OperationName, world: World) => Values | null
  readonly before?: (store: Store, world: World) => void
  /** Changes that are refused save nothing, so all ways may use the same data. */
  readonly refused: boolean
}

const good = (name: OperationName, world: World): Values => {
  const input = inputFor(name, world)
  // An account has one address and an issue one task, so each call gets its own.
  if ('url' in input) return { ...input, url: `http://127.0.0.1:9/o/r/issues/${parseInt(v7().slice(-8), 16)}` }
  return 'email' in input ? { ...input, email: `${v7()}@copse.test` } : input
}

const done: Case = { what: 'what can be done', input: good, refused: false }
const finished: Case = {
  what: 'what the state refuses',
  input: (name, world) => {
    const input = good(name, world)
    return 'task_id' in input || 'execution_id' in input ? input : null
  },
  before: finish,
  refused: false,
}
const notLetIn: Case = { what: 'somebody who is not let in', who: 'stranger', input: good, refused: true }
const noOwner: Case = { what: 'somebody who may not', who: 'member', input: good, refused: false }
const unknownId: Case = {
  what: 'an id that there is not',
  input: (name, world) => {
    const input = good(name, world)
    const key = Object.keys(input).find((one) => one in world.ids)
    return key === undefined ? null : { ...input, [key]: v7() }
  },
  refused: true,
}
const wrongField: Case = {
  what: 'a field that does not fit',
  input: (name, world) => {
    const { shape } = operations[name].input
    const [key] = Object.entries(shape).find(([, schema]) => !schema.safeParse('rubbish').success) ?? []
    return key === undefined ? null : { ...good(name, world), [key]: 'rubbish' }
  },
  refused: true,
}
const missingField: Case = {
  what: 'a field that is missing',
  input: (name, world) => {
    const input = good(name, world)
    const { path } = operations[name]
    const needed = Object.entries(operations[name].input.shape).filter(([, one]) => !one.safeParse(undefined).success)
    const [key] = needed.find(([one]) => !path.includes(`{${one}}`)) ?? []
    return key === undefined ? null : { ...input, [key]: undefined }
  },
  refused: true,
}

/** The task and its execution are done. */
function finish(store: Store, { ids }: World): void {
  store.write((q) => {
    const task = q.tasks.get(ids['task_id'] as TaskId)
    const execution = q.executions.get(ids['execution_id'] as ExecutionId)
    if (task) q.tasks.put({ ...task, status: 'done' })
    if (execution) q.executions.put({ ...execution, status: 'succeeded', finished_at: execution.started_at })
  })
}

test('answers and refuses every operation in the window and on the command line as over HTTP', async () => {
  await using running = await runApp()
  using walk = await startWalk(running)
  using svc = startSvcHere(running)
  const told = new Set<string>()
  for (const one of [done, finished, notLetIn, noOwner, unknownId, wrongField, missingField]) {
    for (const name of Object.keys(operations) as OperationName[]) {
      const http = await walk.ask(one, name, 'http')
      expect.soft(await walk.ask(one, name, 'window'), `${name} in the window: ${one.what}`).toEqual(http)
      if (http !== null) told.add(codeOf(http))
      // Sign-in hints differ, and the token of each way identifies the caller.
      if (operations[name].who === 'public' || one.who !== undefined) continue
      const typed = await walk.askBy(one, name, (who, values) => svc.call(walk.tokens[who], name, values))
      expect.soft(typed, `svc call ${name}: ${one.what}`).toEqual(http)
    }
  }
  // The walk has covered everything it set out for.
  expect([...told]).toEqual(expect.arrayContaining(['answered', 'validation_failed', 'not_found', 'not_a_member']))
  expect([...told]).toEqual(expect.arrayContaining(['task_terminal', 'execution_not_running', 'owner_required']))
}, 400_000)

test('refuses every MCP tool as its operation over HTTP', async () => {
  await using running = await runApp()
  using walk = await startWalk(running)
  await using owner = await connectMcp(running, walk.tokens.owner)
  await using stranger = await connectMcp(running, walk.tokens.stranger)
  const met = new Set<string>()
  for (const { what, who = 'owner', input, before } of [finished, notLetIn, unknownId, wrongField, missingField]) {
    for (const [tool, { operation, inputSchema }] of Object.entries(mcpTools)) {
      const world = walk.world(before)
      const values = input(operation, world)
      const takes = Object.keys(inputSchema.properties ?? {})
      // A tool's own choice can't be given wrongly.
      if (values === null || !Object.keys(values).every((key) => takes.includes(key) || key === 'status')) continue
      const told = Object.fromEntries(Object.entries(values).filter(([key]) => takes.includes(key)))
      if (what === missingField.what && 'status' in values && !('status' in told)) continue
      const http = await outcomeOf(walk.doors.http[who].call(operation, values as never), world)
      if (http === 'answered') continue
      const answered = await (who === 'owner' ? owner : stranger).call(tool, told, world)
      // A tool accepts names as IDs, so it words a missing one differently.
      const isNamed = what === wrongField.what && Object.values(told).includes('rubbish')
      if (isNamed) expect.soft(codeOf(answered), `${tool}: ${what}`).toBe(codeOf(http))
      else expect.soft(answered, `${tool}: ${what}`).toEqual(http)
      met.add(tool)
    }
  }
  expect(Object.keys(mcpTools).filter((tool) => !met.has(tool))).toEqual(['svc_list_projects', 'svc_list_agents'])
}, 400_000)

test('refuses commands as their operations over HTTP, with exit code 1', async () => {
  await using running = await runApp()
  using walk = await startWalk(running)
  const commands: readonly (readonly [Case, OperationName, (id: string) => string[], Values?])[] = [
    [unknownId, 'tasks.get', (id) => ['task', 'show', id]],
    [notLetIn, 'tasks.get', (id) => ['task', 'show', id]],
    [finished, 'tasks.cancel', (id) => ['task', 'cancel', id]],
    [finished, 'tasks.claim', (id) => ['task', 'claim', id]],
    [finished, 'tasks.verdict', (id) => ['review', 'pass', id]],
    [done, 'tasks.transition', (id) => ['task', 'move', id, 'nowhere'], { status: 'nowhere' }],
    [done, 'comments.create', (id) => ['task', 'comment', id, ' '], { body: ' ' }],
  ]
  await Promise.all(
    commands.map(async ([{ what, who = 'owner', input, before }, name, args, more]) => {
      const world = walk.world(before)
      const values = { ...input(name, world), ...more } as Values & { task_id: string }
      const http = await outcomeOf(walk.doors.http[who].call(name, values as never), world)
      const env = { SVC_DATA_DIR: running.dataDir, SVC_API_URL: running.url, SVC_API_TOKEN: walk.tokens[who] }
      const { code, stderr } = await endOf(startSvc([...args(values.task_id), '--json'], { env }))
      expect.soft([code, spelled(JSON.parse(stderr), world)], `${name}: ${what}`).toEqual([1, http])
    }),
  )
}, 400_000)

async function startWalk(running: RunningApp) {
  const migrations = resolve(projectRoot, 'src-main/store/migrations')
  const database = await openDatabase(join(running.dataDir, 'copse.db'), migrations)
  const store = createStore(database)
  const [owner, member, stranger] = [
    await register(running, 'Olga'),
    await register(running, 'Mia'),
    await register(running, 'Sam'),
  ]
  const { id: admin } = await running.client.call('auth.me', {})
  const people = { admin, owner: owner.user_id, member: member.user_id, stranger: stranger.user_id } as People
  const doors = {
    http: { owner: owner.client, member: member.client, stranger: stranger.client },
    window: {
      owner: windowOf(running, owner, 'olga'),
      member: windowOf(running, member, 'mia'),
      stranger: windowOf(running, stranger, 'sam'),
    },
  } as const satisfies Record<string, Readonly<Record<Who, Client>>>
  const world = (before?: Case['before']): World => {
    const built = buildWorld(store, database, people)
    before?.(store, built)
    return built
  }
  const worlds = createWorlds(database)
  const shared = world()
  const tokens = { owner: owner.token, member: member.token, stranger: stranger.token }
  /** Returns the result in data that nobody has changed. */
  const askBy = async (one: Case, name: OperationName, by: (who: Who, values: Values) => Promise<unknown>) => {
    const its = one.refused ? shared : worlds(one.what, () => world(one.before))
    const values = one.input(name, its)
    return values === null ? null : outcomeOf(by(one.who ?? 'owner', values), its)
  }
  return {
    doors,
    world,
    tokens,
    askBy,
    ask: (one: Case, name: OperationName, door: keyof typeof doors) =>
      askBy(one, name, (who, values) => doors[door][who].call(name, values as never)),
    [Symbol.dispose]: () => {
      store.close()
    },
  }
}

/** `svc call` within this process: captures its output, and throws a refusal as a client does. */
function startSvcHere({ url, dataDir }: RunningApp) {
  let printed = ''
  const print = (text: unknown, after?: unknown) => {
    printed += String(text)
    if (typeof after === 'function') after()
    return true
  }
  const caught = [
    vi.spyOn(process.stdout, 'write').mockImplementation(print),
    vi.spyOn(process.stderr, 'write').mockImplementation(print),
    // Each command would listen for a reader that leaves.
    vi.spyOn(process.stdout, 'on').mockReturnThis(),
  ]
  vi.stubEnv('SVC_API_URL', url)
  vi.stubEnv('SVC_DATA_DIR', dataDir)
  const never = () => Promise.reject(new Error('It is a client.'))
  const local = { serve: never, demo: never, rotateKey: never, backUp: never, restore: never, connectRunner: never }
  const program = { version: '0', ...local }
  return {
    call: async (token: string, name: OperationName, values: Values) => {
      vi.stubEnv('SVC_API_TOKEN', token)
      printed = ''
      const fields = Object.entries(values).flatMap(([key, value]) =>
        value === undefined ? [] : [`${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`],
      )
      const code = await runCli(['call', name, ...fields, '--json'], program)
      process.exitCode = undefined
      const said: unknown = JSON.parse(printed)
      if (code === 0) return said
      throw new ApiError((said as { readonly error: Refusal }).error)
    },
    [Symbol.dispose]: () => {
      for (const one of caught) one.mockRestore()
      vi.unstubAllEnvs()
    },
  }
}

async function connectMcp({ url }: RunningApp, token: string) {
  const client = new McpClient({ name: 'doors', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/api/v1/mcp`), { requestInit }))
  return {
    call: async (name: string, values: Values, world: World) => {
      const { isError, content } = await client.callTool({ name, arguments: values })
      const [first] = content
      if (isError !== true || first?.type !== 'text') return 'answered'
      return spelled(JSON.parse(first.text), world)
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

/** A person's window over its bridge, with the same sign-in, which then ends for neither. */
function windowOf({ app }: RunningApp, person: Person, handle: string): Client {
  const session_id = decodeJwt(person.token)['sid'] as SessionId
  const user_id = person.user_id as UserId
  const principal: Principal = { kind: 'user', user_id, handle, is_admin: false, via: 'jwt', session_id }
  const door = { api: app.api, localPrincipal: () => principal, onBug: (error: unknown) => console.error(error) }
  const never = new AbortController().signal
  const bridge: Pick<DesktopBridge, 'call'> = {
    call: async (name, input) => structuredClone(await answerCall(door, name, structuredClone(input), never)),
  }
  return strictClient(createClient(createIpcTransport(bridge as DesktopBridge)))
}

/** Returns a refusal without the IDs of its data; checks that an answer fits the contract. */
async function outcomeOf(answer: Promise<unknown>, world: World): Promise<string> {
  try {
    await answer
    return 'answered'
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return spelled(error.toBody(), world)
  }
}

function spelled(body: unknown, { ids }: World): string {
  const names = new Map(Object.entries(ids).map(([name, id]) => [id, name]))
  return JSON.stringify(body, null, 1).replace(anyId, (id) => `<${names.get(id) ?? 'another'}>`)
}

const anyId = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g
const codeOf = (outcome: string) => /"code": "(\w+)"/.exec(outcome)?.[1] ?? outcome
