import { protocolExecutor } from '../../../src-shared/contract/executor-profiles.ts'
import type { FeedItem } from '../../../src-shared/contract/events.ts'
import type { ProjectId } from '../../../src-shared/contract/ids.ts'
import type { OperationInput, OperationName, OperationOutput } from '../../../src-shared/contract/operations.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { CallContext } from '../api.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { agentScript } from './agent-script.ts'
import { shopChecks, shopFiles, shopTasks } from './shop.ts'

type Call = <N extends OperationName>(name: N, input: OperationInput<N>) => Promise<OperationOutput<N>>

export interface DemoParts extends Pick<ApiParts, 'feed' | 'makeSampleRepository'> {
  /** Calls an operation as the caller of the demo. */
  readonly call: (name: OperationName, input: unknown, context: CallContext) => Promise<unknown>
}

/** The board is good to look at by then, or something is wrong with the machine that the board shows best. */
const limitMs = 25_000

/**
 * Creates the demo over the operations that every client has: a repository, a project, an agent, and five tasks, each at
 * a moment at which a person has something to do or to see. It answers when they are there.
 */
export function createDemoHandlers(parts: DemoParts): Handlers<'demo.create'> {
  return {
    'demo.create': async (_input, context) => {
      const call: Call = async (name, input) => (await parts.call(name, input, context)) as never
      const repo_path = await parts.makeSampleRepository(shopFiles, context.signal)
      const project = await call('projects.create', { name: 'Demo', repo_path })
      const agent = await call('agents.create', {
        name: 'Demo agent',
        executor: protocolExecutor,
        config: { command: agentScript, permissions: 'worktree', containment: 'auto' },
      })
      const start = async (fields: (typeof shopTasks)[keyof typeof shopTasks]) => {
        const review_config = { ci_steps: shopChecks, review_prompt: null }
        const task = await call('tasks.create', { ...fields, project_id: project.id, review_config })
        return call('tasks.claim', { task_id: task.id, agent_id: agent.id })
      }
      const merged = await start(shopTasks.merged)
      const conflict = await start(shopTasks.conflict)
      const review = await start(shopTasks.review)
      const question = await start(shopTasks.question)
      const running = await start(shopTasks.running)

      const signal = AbortSignal.any([context.signal, AbortSignal.timeout(limitMs)])
      const get = ({ task: { id } }: { task: Task }) => call('tasks.get', { task_id: id })
      const reviewed = (one: { task: Task }) =>
        reached(parts, project.id, signal, async () => {
          const task = await get(one)
          return task.review_summary?.status === 'passed' && !task.entry_barrier ? task : null
        })
      const passed = await reviewed(merged)
      if (passed !== null) {
        await call('tasks.transition', { task_id: passed.id, status: 'merging', version: passed.version })
      }
      await reviewed(conflict)
      await reviewed(review)
      await reached(parts, project.id, signal, async () => {
        const { asks = [] } = await call('executions.get', { execution_id: question.execution?.id ?? '' })
        return asks[0] ?? null
      })
      const tasks = {
        merged: await get(merged),
        conflict: await get(conflict),
        review: await get(review),
        question: await get(question),
        running: await get(running),
      }
      return { project, agent, task: tasks.merged, tasks }
    },
  }
}

/** Looks after each event of the project until there is something; null when `signal` aborts before. */
async function reached<T>(
  { feed }: DemoParts,
  project_id: ProjectId,
  signal: AbortSignal,
  look: () => Promise<T | null>,
): Promise<T | null> {
  const found = new AbortController()
  const until = AbortSignal.any([signal, found.signal])
  const isNews = (item: FeedItem, project: ProjectId | null) => item.kind === 'begun' || project === project_id
  let result: T | null = null
  for await (const { kind } of feed.subscribe(null, isNews, until)) {
    if (kind === 'activity') continue
    result ??= await look()
    if (result !== null) found.abort()
  }
  return result
}
