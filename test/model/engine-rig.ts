import { resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { v7 } from 'uuid'
import { z } from 'zod'
import { createLogger } from '../../src-main/platform/logging/log.ts'
import { newTaskDefaults } from '../../src-main/tasks/rules/create-task.ts'
import { onePlace } from '../helpers/one-place.ts'
import { placeOf } from '../helpers/whole-git.ts'
import { createEngine, type Engine } from '../../src-main/engine/create-engine.ts'
import { createDurableWrites } from '../../src-main/core/durable-writes.ts'
import { createEventFeed } from '../../src-main/core/event-feed.ts'
import type { RunnerKinds } from '../../src-main/ports/runner-kinds.ts'
import type { Plugin } from '../../src-main/hooks/plugin.ts'
import type { PluginResult } from '../../src-main/core/plugin-result.ts'
import type { ExecutionRun } from '../../src-main/ports/executors.ts'
import type { Store } from '../../src-main/ports/store.ts'
import type { TaskRecord } from '../../src-main/ports/task-queries.ts'
import { pluginTraits } from '../../src-main/plugins/create-plugins.ts'
import { createWorkflows } from '../../src-main/core/workflows.ts'
import { createStore } from '../../src-main/store/create-store.ts'
import { openDatabase } from '../../src-main/store/database.ts'
import { loadWorkflowFile } from '../../src-main/workflow-files/load.ts'
import { hookPhases, type HookPhase, type WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import type { AgentId, ProjectId, RepoId, TaskId, UserId } from '../../src-shared/contract/ids.ts'
import { projectRoot } from '../helpers/project-root.ts'
import {
  ended,
  fakeExecutors,
  fakeAttachmentFiles,
  fakeLogs,
  fakeScripts,
  fakeWorkspaces,
  type FakeRun,
} from './engine-fakes.ts'
import type { Answer } from './model-types.ts'

/** Plugins whose answer the test decides; some support certain phases only. */
export const probes: Readonly<Record<string, readonly HookPhase[]>> = {
  'probe-0': hookPhases,
  'probe-1': hookPhases,
  'probe-2': hookPhases,
  'probe-3': ['on_enter', 'after_enter'],
  'probe-4': ['before_exit', 'before_enter', 'on_exit'],
}

/** The real engine on a real store, with faked surroundings. */
export interface EngineRig extends AsyncDisposable {
  readonly engine: Engine
  readonly store: Store
  readonly ids: Readonly<Record<'coder' | 'reviewer', AgentId>> & { readonly user: UserId }
  readonly running: ReadonlyMap<TaskId, FakeRun>
  /** Sets the answer of every hook and CI step. */
  answer(decide: (action: string) => Answer): void
  /** Creates a task in a project of its own. */
  task(definition: WorkflowDefinition, status: string): TaskRecord
  /** Creates tasks with nothing to check, in one project with the built-in workflow. */
  tasks(count: number, status: string): readonly TaskRecord[]
  /** Resolves when the task rests. */
  rest(task_id: TaskId): Promise<void>
}

/** More hooks than any single trigger can run. */
const mostAnswers = 1_000

const at = '2026-11-21T09:30:00.000Z'

/** `file`: the database's file, in memory by default. `onStart` is called when an agent begins. */
export async function startEngineRig(
  file = ':memory:',
  onStart: (store: Store, run: ExecutionRun) => void = () => undefined,
): Promise<EngineRig> {
  const database = await openDatabase(file, resolve(projectRoot, 'src-main/store/migrations'))
  const store = createStore(database)
  const running = new Map<TaskId, FakeRun>()
  const builtin = await loadWorkflowFile(resolve(projectRoot, 'workflows/default.yaml'))
  let decide: (action: string) => Answer = () => 'ok'
  const clock = strictClock()
  const log = createLogger({ level: process.env['COPSE_TEST_LOG'] === '1' ? 'debug' : 'fatal' })
  const engine = createEngine(
    {
      store,
      feed: createEventFeed(store, clock),
      writes: createDurableWrites({ log }),
      runnerKinds: unused<RunnerKinds>('runnerKinds', { listen: () => undefined }),
      places: onePlace(
        placeOf(fakeWorkspaces, {
          workspaceRoot: '/worktrees',
          runs: fakeExecutors(running, (run) => {
            onStart(store, run)
          }),
          containment: { refusal: () => null, effectiveLevel: () => 'none', keepsRefs: () => Promise.resolve(true) },
          scripts: fakeScripts((command) => (decide(command) === 'failed' ? 1 : 0)),
        }),
      ),
      repositories: fakeWorkspaces,
      target: fakeWorkspaces,
      rescues: fakeWorkspaces,
      overlaps: fakeWorkspaces,
      baseConflicts: fakeWorkspaces,
      forges: unused('forges'),
      pusher: unused('pusher'),
      logs: fakeLogs,
      attachmentFiles: fakeAttachmentFiles,
      agentTokens: { mint: () => 'token', revoke: () => undefined },
      clock,
      newId: v7,
      redactor: () => (text) => text,
      rememberSecrets: () => undefined,
      workflows: createWorkflows(builtin.definition, pluginTraits),
      log,
      cleanupDelaySeconds: 86_400,
      apiUrl: () => null,
    },
    Object.entries(probes).map(([name, phases]) => probe(name, phases, () => decide(name))),
  )
  engine.start()
  const ids = { coder: v7() as AgentId, reviewer: v7() as AgentId, user: v7() as UserId }
  store.write((q) => {
    for (const name of ['coder', 'reviewer'] as const) {
      const about = { owner_id: null, daemon_id: null, executor: 'command', config: {}, paused: false } as const
      q.agents.put({ id: ids[name], name, ...about, created_at: at })
    }
  })
  return {
    engine,
    store,
    ids,
    running,
    answer: (next) => {
      let asked = 0
      decide = (action) => {
        asked += 1
        // Without a pause no timer would ever fire.
        if (asked > mostAnswers) throw new Error(`${action} is asked over and over: the task goes round for ever.`)
        return next(action)
      }
    },
    task: (definition, status) =>
      store.write((q) => putTask(q, putProject(q, JSON.stringify(definition)), { status, position: 1 })),
    tasks: (count, status) =>
      store.write((q) => {
        const project = putProject(q, '')
        const review_config = { ci_steps: [], review_prompt: null }
        return Array.from({ length: count }, (_, position) => putTask(q, project, { status, position, review_config }))
      }),
    rest: (task_id) => rest(engine, store, running, task_id),
    [Symbol.asyncDispose]: async () => {
      await engine.close()
      store.close()
    },
  }
}

/** Never returns the same time twice, so that events can be ordered by time. */
/** A port of which no workflow of the model reaches more than this. */
function unused<T extends object>(name: string, reached: Partial<T> = {}): T {
  return new Proxy(reached as T, {
    get: (port, key) => {
      if (key in port) return Reflect.get(port, key) as unknown
      throw new Error(`The model asked for ${name}.`)
    },
  })
}

function strictClock() {
  let last = 0
  return { now: () => (last = Math.max(last + 1, Date.now())) }
}

function probe(name: string, phases: readonly HookPhase[], decide: () => Answer): Plugin {
  const results: Record<Answer, PluginResult> = {
    ok: { kind: 'ok' },
    failed: { kind: 'failed', reason: 'the test said so' },
    skipped: { kind: 'skipped', reason: 'not_needed' },
    lacking: { kind: 'skipped', reason: 'no_workspace' },
  }
  return {
    name,
    purpose: 'Says what the test wants.',
    phases,
    events: [],
    options: z.record(z.string(), z.unknown()),
    traits: [],
    run: () => Promise.resolve(results[decide()]),
  }
}

type Write = Parameters<Parameters<Store['write']>[0]>[0]

function putProject(q: Write, workflow_definition: string) {
  const project_id = v7() as ProjectId
  const settings = { max_concurrent_executions: 100 }
  const about = { owner_id: null, paused_at: null, workflow_definition, settings, created_at: at, updated_at: at }
  q.projects.put({ id: project_id, name: 'P', key: q.projects.freeKey('P'), ...about })
  const repo_id = v7() as RepoId
  q.repos.put({ id: repo_id, project_id, name: 'repo', path: '/repo', default_branch: 'main', is_primary: true })
  return { project_id, repo_id }
}

type Project = ReturnType<typeof putProject>

function putTask(q: Write, project: Project, more: Partial<TaskRecord>): TaskRecord {
  const task: TaskRecord = {
    id: v7() as TaskId,
    ...project,
    number: q.tasks.nextNumber(project.project_id),
    ...newTaskDefaults,
    parent_id: null,
    subtask_mode: null,
    title: 'A task',
    description: null,
    status: '',
    review_config: { ci_steps: ['ci'], review_prompt: null },
    roles: {},
    labels: [],
    priority: 0,
    position: 1,
    created_at: at,
    updated_at: at,
    ...more,
  }
  q.tasks.put(task)
  return task
}

/** The turns of the event loop without change after which a task counts as resting. */
const quietTurns = 3

async function rest(
  engine: Engine,
  store: Store,
  running: ReadonlyMap<TaskId, FakeRun>,
  task_id: TaskId,
): Promise<void> {
  let before = ''
  for (let quiet = 0; quiet < quietTurns;) {
    await engine.worker.waitUntilDrained(task_id)
    await setImmediate()
    const { version, status, error_annotation } = store.read.tasks.get(task_id) ?? {}
    const executions = store.read.executions.openOfTask(task_id).map((one) => `${one.id}${one.status}`)
    const effect = store.read.effects.first(task_id)
    const now = JSON.stringify([
      version,
      status,
      error_annotation,
      executions,
      effect,
      running.has(task_id),
      store.read.events.range().last,
    ])
    quiet = now === before ? quiet + 1 : 0
    before = now
  }
}

export const finished = ended
