import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TranscriptEntry } from '../../src-shared/contract/executions.ts'
import { ExecutionId, TaskId } from '../../src-shared/contract/ids.ts'
import type { AgentLog } from '../../src-main/ports/logs.ts'
import type { AgentRun } from '../../src-main/agents/definition.ts'
import { configNames } from '../../src-main/agents/create-executors.ts'
import { startModelServer } from '../fakes/model-server.ts'
import type { ModelServer } from '../fakes/model-server.ts'
import { createTestRepository, testGitEnvironment } from '../helpers/git-repository.ts'
import type { TestRepository } from '../helpers/git-repository.ts'

/** A log that keeps everything in memory. */
export interface MemoryLog extends AgentLog {
  readonly entries: readonly TranscriptEntry[]
  readonly closed: () => boolean
  readonly rawText: () => string
  /** Resolves with the first matching entry, past or future. */
  waitFor(fits: (entry: TranscriptEntry) => boolean): Promise<TranscriptEntry>
}

/** Creates a memory log. */
export function createMemoryLog(): MemoryLog {
  const entries: TranscriptEntry[] = []
  const waiting = new Set<(entry: TranscriptEntry) => void>()
  let raw = ''
  let closed = false
  return {
    entries,
    closed: () => closed,
    rawText: () => raw,
    entry: (entry) => {
      entries.push(entry)
      for (const look of waiting) look(entry)
    },
    raw: (bytes) => {
      raw += Buffer.from(bytes).toString('utf8')
      return Promise.resolve()
    },
    close: () => {
      closed = true
      return Promise.resolve()
    },
    waitFor: (fits) => {
      const found = entries.find(fits)
      if (found) return Promise.resolve(found)
      return new Promise((resolve) => {
        waiting.add(function look(entry) {
          if (!fits(entry)) return
          waiting.delete(look)
          resolve(entry)
        })
      })
    },
  }
}

/** A model server, a real worktree of a real repository, and a home that no agent has used. */
export interface AgentBench extends AsyncDisposable {
  readonly model: ModelServer
  readonly repository: TestRepository
  readonly worktree: string
  /** For `config.env`: points the agent at the model server and the home. */
  readonly env: Readonly<Record<string, string>>
  /** A run in the worktree; `log` is a new memory log by default. */
  run(about: Partial<AgentRun> & { readonly prompt: string; readonly log: AgentLog }): AgentRun
}

export interface BenchOptions {
  /** Its folder, if not the temporary one, which contained runs can't see. */
  readonly within?: string
  /** The name of this machine where the agents are. */
  readonly host?: string
}

/** Creates a bench; disposing removes all of it. */
export async function createAgentBench({ within = tmpdir(), host }: BenchOptions = {}): Promise<AgentBench> {
  await using stack = new AsyncDisposableStack()
  const model = stack.use(await startModelServer({ apiKey: 'scripted', ...(host !== undefined && { host }) }))
  const repository = stack.use(await createTestRepository({ within }))
  const home = await mkdtemp(join(within, 'copse-agent-home-'))
  stack.defer(() => rm(home, { recursive: true, force: true, maxRetries: 5 }))
  const worktree = join(repository.beside, 'worktree')
  await repository.git(['worktree', 'add', '--quiet', '-b', 'svc/example', worktree])
  const env = {
    ...testGitEnvironment,
    HOME: home,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'scripted',
    ANTHROPIC_AUTH_TOKEN: '',
    CLAUDE_CONFIG_DIR: join(home, '.claude'),
  }
  const parts = stack.move()
  return {
    model,
    repository,
    worktree,
    env,
    run: (about) => ({
      execution_id: ExecutionId.parse('0198f000-0000-7000-8000-000000000001'),
      task_id: TaskId.parse('0198f000-0000-7000-8000-000000000002'),
      cwd: worktree,
      config: {},
      env: {},
      mcp: null,
      session_id: null,
      timeout_seconds: null,
      protectedNames: configNames,
      ...about,
    }),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}
