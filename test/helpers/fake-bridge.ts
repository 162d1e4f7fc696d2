import type { DesktopBridge, StreamReply } from '../../src-shared/contract/desktop.ts'
import type { ErrorBody, ErrorCode } from '../../src-shared/contract/errors.ts'
import type { EventEnvelope } from '../../src-shared/contract/events.ts'
import { ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type { OperationName } from '../../src-shared/contract/operations.ts'
import { defaultProjectSettings, type Project } from '../../src-shared/contract/projects.ts'
import type { Task, TaskMove } from '../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import { boardData } from './fake-board-data.ts'
import { boardIds, plainTask } from './plain-task.ts'

export interface FakeBridgeOptions {
  readonly workflow: WorkflowDefinition
  /** `first`: no project at all. `empty`: projects without tasks. `many`: 2,000 tasks in one column. */
  readonly scene?: 'full' | 'first' | 'empty' | 'many'
  readonly now?: number
  /** What `pickFolder` answers. */
  readonly folder?: string
}

export interface FakeBridge extends DesktopBridge {
  readonly calls: { readonly name: OperationName; readonly input: unknown }[]
  /** Loses the connection, or gets it back. */
  setOnline(online: boolean): void
  /** The next call of this name is refused. */
  refuse(name: OperationName, error: ErrorBody['error']): void
  /** Calls of this name are not answered until `release`. */
  hold(name: OperationName): () => void
}

class Refused extends Error {
  readonly body: ErrorBody['error']
  constructor(code: ErrorCode, message: string, details?: Record<string, unknown>) {
    super(message)
    this.body = { code, message, ...(details && { details }) }
  }
}

/** A window's bridge that keeps projects and tasks in memory and answers as the service would. */
export function createFakeBridge({
  workflow,
  scene = 'full',
  now = Date.now(),
  folder,
}: FakeBridgeOptions): FakeBridge {
  const data = boardData(now)
  const projects: Project[] = scene === 'first' ? [] : [...data.projects]
  const tasks = new Map<string, Task>(scene === 'full' ? data.tasks.map((task) => [task.id, task]) : [])
  if (scene === 'many') for (let index = 0; index < 2_000; index += 1) addTask(`Task number ${index}`)
  const replies = new Set<(reply: StreamReply) => void>()
  const calls: FakeBridge['calls'] = []
  const refusals = new Map<OperationName, ErrorBody['error']>()
  const held = new Map<OperationName, Promise<void>>()
  const agents = scene === 'first' ? [] : [...data.agents]
  let settings = { ...defaultProjectSettings, default_review_config: { ci_steps: ['npm test'], review_prompt: null } }
  let registered = scene === 'full'
  let online = true
  let seq = 100

  function addTask(title: string, rest: Partial<Task> = {}): Task {
    const number = tasks.size + 1
    const id = TaskId.parse(`01990005-0000-7000-9000-${String(number).padStart(12, '0')}`)
    const task = { ...plainTask(id, new Date(now).toISOString()), title, position: number, ...rest }
    tasks.set(id, task)
    return task
  }
  function announce(event: Omit<EventEnvelope, 'seq'>): void {
    seq += 1
    for (const reply of replies)
      reply({ kind: 'item', item: { kind: 'event', event: { ...event, seq } as EventEnvelope } })
  }
  function taskOf(id: unknown): Task {
    const task = tasks.get(String(id))
    if (!task) throw new Refused('not_found', 'There is no such task.')
    return task
  }
  function change(task: Task, patch: Partial<Task>): Task {
    const next = { ...task, ...patch, version: task.version + 1, updated_at: new Date().toISOString() }
    tasks.set(next.id, next)
    const of = { project_id: next.project_id, task_id: next.id, occurred_at: next.updated_at }
    announce({ type: 'task.updated', data: { ...of, task: next } })
    return next
  }
  function moves(task: Task): TaskMove[] {
    const from = workflow.states.find((state) => state.name === task.status)
    return workflow.states
      .filter((state) => state.name !== task.status)
      .map((state): TaskMove => {
        const way = from?.transitions.find(
          (transition) => transition.to === state.name && transition.audience !== 'agent_only',
        )
        const claimable = (from?.kind === 'backlog' || from?.kind === 'initial') && state.kind === 'active'
        const back = from?.gate_config?.reject_target === state.name
        const cancels = state.name === workflow.cancellation_state && from?.kind !== 'terminal'
        const allowed = way !== undefined || claimable || back || cancels
        return {
          to: state.name,
          label: cancels ? 'Cancel' : claimable ? 'Start' : (way?.label ?? state.label),
          allowed,
          via: cancels ? 'cancel' : claimable ? 'claim' : back ? 'verdict_fail' : 'transition',
          reason: allowed
            ? null
            : `${from?.label ?? task.status} leads to ${from?.transitions[0] ? workflow.states.find((one) => one.name === from.transitions[0]?.to)?.label : 'nothing'}, not to ${state.label}.`,
        }
      })
  }
  const at = () => new Date().toISOString()
  const answers: Partial<Record<OperationName, (input: Record<string, unknown>) => unknown>> = {
    'system.get': () => ({
      version: '0.1.0',
      data_dir: '/tmp/copse',
      registered,
      local_operator: true,
      url: 'http://127.0.0.1:4870',
    }),
    'system.inspect_folder': ({ path }) => {
      if (String(path).includes('plain'))
        throw new Refused(
          'not_a_git_repository',
          'Copse found no git repository in it. Make one there, then open it again.',
        )
      if (String(path).includes('unborn'))
        throw new Refused('repository_has_no_commits', 'A worktree needs a first commit to start from.')
      return { path, name: String(path).split('/').at(-1), default_branch: 'main', branches: ['main', 'next'] }
    },
    'auth.me': () => {
      if (!registered && scene !== 'full') throw new Refused('not_found', 'Nobody has registered yet.')
      return {
        id: boardIds.user,
        email: 'mara@example.org',
        handle: 'mara',
        display_name: 'Mara Lindqvist',
        is_admin: true,
        created_at: at(),
      }
    },
    'auth.register': () => {
      registered = true
      return {}
    },
    'auth.list_tokens': () => ({
      items: [{ id: boardIds.user, name: 'ci-bridge', created_at: '2026-09-03T09:00:00.000Z', last_used_at: null }],
    }),
    'auth.create_token': ({ name }) => ({
      id: boardIds.repo,
      name,
      created_at: at(),
      token: 'svc_9tQm2Xc7vB0kLr4ZyNf8WhPd1JsUeAoGi6TRq3MxEbY',
    }),
    'projects.list': () => ({ items: projects }),
    'projects.get_workflow': () => workflow,
    'projects.get_settings': () => settings,
    'projects.update_settings': (input) => (settings = { ...settings, ...input }),
    'projects.update': ({ project_id, ...patch }) => {
      const index = projects.findIndex((one) => one.id === project_id)
      const known = projects[index]
      if (!known) throw new Refused('not_found', 'There is no such project.')
      return (projects[index] = { ...known, ...patch })
    },
    'projects.create': ({ name }) => {
      const template = data.projects[0]
      if (!template) throw new Refused('internal_error', 'No template.')
      const made = { ...template, id: ProjectId.parse('01990001-0000-7000-8000-999999999999'), name: String(name) }
      projects.push(made)
      return made
    },
    'agents.list': () => ({ items: agents }),
    'agents.detect': () => ({
      items: [
        {
          executor: 'claude-code',
          name: 'Claude Code',
          installed: true,
          path: '/home/mara/.local/bin/claude',
          version: '2.1.14',
          hint: null,
        },
        { executor: 'command', name: 'Command', installed: true, path: '/bin/sh', version: null, hint: null },
      ],
    }),
    'agents.update': ({ agent_id, ...patch }) => {
      const index = agents.findIndex((one) => one.id === agent_id)
      const known = agents[index]
      if (!known) throw new Refused('not_found', 'There is no such agent.')
      return (agents[index] = { ...known, ...patch })
    },
    'tasks.list': ({ project_id, cursor }) => {
      const all = [...tasks.values()].filter((task) => task.project_id === project_id)
      const from = Number(cursor ?? 0)
      const more = from + 200 < all.length
      return { items: all.slice(from, from + 200), has_more: more, next_cursor: more ? String(from + 200) : null }
    },
    'tasks.get': ({ task_id }) => taskOf(task_id),
    'tasks.create': ({ title, status, priority }) =>
      addTask(String(title), { status: String(status ?? 'backlog'), priority: Number(priority ?? 0) }),
    'tasks.moves': ({ task_id }) => ({ items: moves(taskOf(task_id)) }),
    'tasks.transition': ({ task_id, status }) => ({ task: change(taskOf(task_id), { status: String(status) }) }),
    'tasks.claim': ({ task_id, agent_id }) => {
      const roles = agent_id ? { coder: { type: 'agent' as const, id: boardIds.claude } } : {}
      return { task: change(taskOf(task_id), { status: 'in_progress', roles }), execution: null, workspace: null }
    },
    'tasks.verdict': ({ task_id }) => ({
      task: change(taskOf(task_id), { status: 'in_progress', review_summary: null }),
    }),
    'tasks.cancel': ({ task_id }) => ({ task: change(taskOf(task_id), { status: 'cancelled' }) }),
    'tasks.executions': ({ task_id }) => ({ items: data.executions.filter((one) => one.task_id === task_id) }),
    'tasks.reviews': () => ({ items: [] }),
    'tasks.transitions': () => ({ items: [] }),
    'executions.get': ({ execution_id }) => data.executions.find((one) => one.id === execution_id),
    'executions.stop': ({ execution_id }) => {
      const execution = data.executions.find((one) => one.id === execution_id)
      const ended = execution && { ...execution, status: 'stopped', finished_at: at() }
      return { execution: ended, task: change(taskOf(execution?.task_id), { active_execution_id: null }) }
    },
  }
  return {
    platform: 'linux',
    calls,
    async call(name, input) {
      calls.push({ name, input })
      await held.get(name)
      if (!online) throw new Error('The window lost its main process.')
      const refusal = refusals.get(name)
      refusals.delete(name)
      if (refusal) return { ok: false, error: refusal }
      const answer = answers[name]
      try {
        if (!answer) throw new Refused('not_found', `Nothing answers ${name} here.`)
        return { ok: true, value: structuredClone(answer(input as Record<string, unknown>)) }
      } catch (error) {
        if (error instanceof Refused) return { ok: false, error: error.body }
        throw error
      }
    },
    subscribe(stream, _input, _after, onReply) {
      if (stream === 'events.stream') {
        replies.add(onReply)
        if (!online) queueMicrotask(() => onReply({ kind: 'end' }))
        else if (scene === 'full')
          queueMicrotask(() => {
            for (const activity of data.activities) onReply({ kind: 'item', item: { kind: 'activity', activity } })
          })
      } else queueMicrotask(() => onReply({ kind: 'item', item: { kind: 'end' } }))
      return () => void replies.delete(onReply)
    },
    pickFolder: async () => folder ?? null,
    showFolder: async () => undefined,
    setOnline(next) {
      online = next
      if (!next) for (const reply of replies) reply({ kind: 'end' })
    },
    refuse: (name, error) => void refusals.set(name, error),
    hold(name) {
      let release: () => void = () => undefined
      held.set(name, new Promise((resolve) => (release = resolve)))
      return () => {
        held.delete(name)
        release()
      }
    },
  }
}
