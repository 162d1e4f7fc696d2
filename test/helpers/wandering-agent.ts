import { join } from 'node:path'
import type { ReviewNote } from '../../src-shared/contract/reviews.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'
import { createTestRepository, type TestRepository } from './git-repository.ts'
import { present } from './present.ts'
import { runApp, type RunningApp } from './running-app.ts'

/** A task whose agent has run a command in a repository of its own, and rests. */
export interface WanderedTask extends AsyncDisposable {
  readonly repository: TestRepository
  readonly task: Task
  readonly path: string
  readonly branch: string
}

interface Circumstances {
  readonly prepare?: (repository: TestRepository) => Promise<unknown>
  /** What a person does in their checkout after the run began and before the command. */
  readonly meanwhile?: (repository: TestRepository) => Promise<unknown>
}

/** Commits a file, the work that must not be lost. */
export const work = 'echo work > work.txt && git add -A && git commit -qm Work'

const files = { 'README.md': 'readme\n', 'a.txt': 'one\ntwo\nthree\n', '.gitignore': 'dist/\n' }

/** One app for many agents that do not work where they should. */
export async function startWandering() {
  const app = await runApp()
  const { client } = app
  return {
    app,
    /** Runs a shell command as an agent that is not contained. `$B`: the task's branch, `$REPO`: the user's checkout. */
    runAgent: (command: string, circumstances: Circumstances = {}) => runAgent(app, command, circumstances),
    reviewOf: async (task: Task) => present((await client.call('tasks.reviews', { task_id: task.id })).items[0]),
    notesOf: async (task: Task): Promise<readonly ReviewNote[]> =>
      present((await client.call('tasks.reviews', { task_id: task.id })).items[0]).notes,
    /** Passes the work as it is now, as a person, and merges it. */
    merge: (task: Task) => merge(app, task),
    recover: async (task: Task, action: 'take_work' | 'leave_work'): Promise<Task> => {
      await client.call('tasks.recover', { task_id: task.id, action })
      return await app.taskWhere(task.id, isResting)
    },
  }
}

async function runAgent(
  app: RunningApp,
  command: string,
  { prepare, meanwhile }: Circumstances,
): Promise<WanderedTask> {
  const repository = await createTestRepository({ files })
  await prepare?.(repository)
  const { client } = app
  const project = await client.call('projects.create', { name: 'Elsewhere', repo_path: repository.path })
  const go = join(repository.beside, 'go')
  const waits = meanwhile ? `while [ ! -e '${go}' ]; do sleep 0.02; done; ` : ''
  const whole = `REPO='${repository.path}'; B=$(git branch --show-current); ${waits}${command}; echo done`
  const config = { command: whole, containment: 'none' } as const
  const agent = await client.call('agents.create', { name: 'Wanderer', executor: 'command', config })
  const created = await client.call('tasks.create', { project_id: project.id, title: 'Wander' })
  const { workspace } = await client.call('tasks.claim', { task_id: created.id, agent_id: agent.id })
  if (meanwhile) {
    await app.taskWhere(created.id, (one) => one.active_execution_id !== null)
    await meanwhile(repository)
    await repository.write({ go: '' }, repository.beside)
  }
  const task = await app.taskWhere(created.id, isResting)
  const { path, branch } = present(workspace)
  return { repository, task, path, branch, [Symbol.asyncDispose]: () => repository[Symbol.asyncDispose]() }
}

/** Returns whether nothing runs: the review has been decided, or the task waits for a person. */
export const isResting = ({ active_execution_id, error_annotation, entry_barrier, review_summary }: Task): boolean =>
  active_execution_id === null && (error_annotation !== null || (!entry_barrier && review_summary !== null))

async function merge({ client }: RunningApp, task: Task): Promise<Task> {
  const { tree } = await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  const seen = tree === null ? {} : { tree }
  await client.call('tasks.verdict', { task_id: task.id, verdict: 'pass', ...seen })
  const { version } = await client.call('tasks.get', { task_id: task.id })
  return (await client.call('tasks.transition', { task_id: task.id, status: 'merging', version, ...seen })).task
}
