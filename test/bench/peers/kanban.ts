import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { pinnedProgram } from '../../agents/agent-binaries.ts'
import { receive } from './received.ts'
import type { Contestant, NewTask, Side } from './side.ts'

const execute = promisify(execFile)

interface Card {
  readonly id: string
  readonly title: string
  readonly prompt: string
  readonly startInPlanMode: boolean
  readonly agentId: 'claude'
  readonly baseRef: string
  readonly createdAt: number
  readonly updatedAt: number
}

interface Board {
  readonly columns: readonly { readonly id: string; readonly cards: readonly Card[] }[]
}

interface State {
  readonly board: Board
  readonly sessions: Readonly<Record<string, unknown>>
  readonly revision: number
}

interface KanbanSide extends Side {
  readonly program: string
  readonly repository: string
  readonly env: NodeJS.ProcessEnv
}

/** Cline Kanban from npm, which keeps a board in a JSON file and shows each agent's terminal. */
export const kanban: Contestant = {
  name: 'Cline Kanban 0.1.70',
  open,
  createByCommand: async (side, { title, prompt }) => {
    const { program, repository, env } = side as KanbanSide
    const args = [program, 'task', 'create', '--title', title, '--prompt', prompt, '--project-path', repository]
    await execute(process.execPath, args, { env, cwd: repository })
  },
}

/** Where its program is, fetched if it is not there. */
export const kanbanProgram = (): Promise<string> =>
  pinnedProgram('kanban', { package: 'kanban', version: '0.1.70', program: () => join('kanban', 'dist', 'cli.js') })

async function open(repository: string, environment: Readonly<Record<string, string>>): Promise<Side> {
  const program = await kanbanProgram()
  const home = await mkdtemp(join(tmpdir(), 'copse-bench-peer-'))
  const { CLAUDE_BINARY = '', ...agents } = environment
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ...agents,
    PATH: `${dirname(CLAUDE_BINARY)}:${process.env['PATH'] ?? ''}`,
    HOME: home,
    NODE_ENV: 'production',
    KANBAN_RUNTIME_PORT: undefined,
  }
  const child = spawn(process.execPath, [program, '--no-open', '--port', 'auto'], {
    cwd: repository,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const close = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const exit = once(child, 'exit')
      child.kill('SIGTERM')
      await exit
    }
    await rm(home, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    const url = new URL(await listening(child.stdout))
    const listeningAt = performance.now()
    const headers = { 'x-kanban-workspace-id': url.pathname.slice(1) }
    env['KANBAN_RUNTIME_PORT'] = url.port
    const ask = (name: string, body?: unknown) => receive(`${url.origin}/api/trpc/${name}`, headers, body)
    const resultOf = (body: unknown) => (body as { result: { data: unknown } }).result.data
    const done = async (name: string, body: unknown) => {
      const { ok, error } = resultOf((await ask(name, body)).body) as { ok: boolean; error?: string }
      if (!ok) throw new Error(`${name}: ${error ?? 'refused'}`)
    }
    const stateOf = async () => resultOf((await ask('workspace.getState')).body) as State
    const change = async (edit: (board: Board) => Board) => {
      const { board, sessions, revision } = await stateOf()
      await ask('workspace.saveState', { board: edit(board), sessions, expectedRevision: revision })
    }
    const add = async (tasks: readonly NewTask[]): Promise<string> => {
      const cards = tasks.map(cardOf)
      await change((board) => withCards(board, 'backlog', cards))
      return cards[0]?.id ?? ''
    }
    if (child.pid === undefined) throw new Error('The peer has no process.')
    const side: KanbanSide = {
      program,
      repository,
      env,
      pid: child.pid,
      listeningAt,
      create: (task) => add([task]),
      createMany: async (tasks) => void (await add(tasks)),
      page: {
        url: url.href,
        ready: "document.querySelector('[data-task-id]')",
        signIn: () => Promise.resolve(),
      },
      board: async () => (await ask('workspace.getState')).bytes,
      everyTask: async () => (await ask('workspace.getState')).bytes,
      start: async (id) => {
        const { board } = await stateOf()
        const card = board.columns.flatMap(({ cards }) => cards).find((one) => one.id === id)
        if (!card) throw new Error('The peer has lost a task.')
        const { baseRef, prompt, agentId, title: taskTitle, startInPlanMode } = card
        await done('workspace.ensureWorktree', { taskId: id, baseRef })
        await done('runtime.startTaskSession', { taskId: id, prompt, taskTitle, startInPlanMode, baseRef, agentId })
        await change((now) => withCards(without(now, id), 'in_progress', [card]))
      },
      fileOf: async (id, name) => {
        const input = encodeURIComponent(JSON.stringify({ taskId: id, baseRef: 'main' }))
        const place = resultOf((await ask(`workspace.getTaskContext?input=${input}`)).body) as { path: string }
        return join(place.path, name)
      },
      drop: async (id) => {
        await ask('runtime.stopTaskSession', { taskId: id })
        await ask('workspace.deleteWorktree', { taskId: id })
        await change((board) => without(board, id))
      },
      [Symbol.asyncDispose]: close,
    }
    return side
  } catch (error) {
    await close()
    throw error
  }
}

function cardOf({ title, prompt }: NewTask): Card {
  const at = Date.now()
  const id = crypto.randomUUID()
  return { id, title, prompt, startInPlanMode: false, agentId: 'claude', baseRef: 'main', createdAt: at, updatedAt: at }
}

const withCards = (board: Board, id: string, cards: readonly Card[]): Board => ({
  ...board,
  columns: board.columns.map((column) =>
    column.id === id ? { ...column, cards: [...cards, ...column.cards] } : column,
  ),
})

const without = (board: Board, id: string): Board => ({
  ...board,
  columns: board.columns.map((column) => ({ ...column, cards: column.cards.filter((one) => one.id !== id) })),
})

async function listening(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const url = /running at (http:\S+)/.exec(line)?.[1]
    if (url !== undefined) return url
  }
  throw new Error('The peer ended before it listened.')
}
