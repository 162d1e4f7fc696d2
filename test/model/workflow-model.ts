import type { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import { admits, graphOf, type Graph } from './model-graph.ts'
import { createPassages, type Answers, type Passages } from './model-passage.ts'
import { newTask, type ModelTask } from './model-task.ts'
import type { Answer, Result, Seen, Trigger, Who } from './model-types.ts'

/** One task in one workflow, by the specification; uses nothing of the engine. */
export interface WorkflowModel {
  readonly task: ModelTask
  /** The outcomes of the built-in plugins in random workflows; `says` is CI's. */
  plugin(name: string, says: Answer): Result | null
  /** Performs a trigger to the end, and returns what is visible. */
  apply(trigger: Trigger, answers: Answers): Seen
}

type OfKind<K extends Trigger['kind']> = Extract<Trigger, { kind: K }>
type Rules = { readonly [K in Trigger['kind']]: (trigger: OfKind<K>) => string }

interface World {
  readonly definition: WorkflowDefinition
  readonly graph: Graph
  readonly task: ModelTask
  readonly passages: Passages
}

export function createWorkflowModel(definition: WorkflowDefinition, start: string): WorkflowModel {
  const graph = graphOf(definition)
  const task = newTask(start)
  let answers: Answers = () => 'ok'
  const passages = createPassages(graph, task, () => answers)
  const world: World = { definition, graph, task, passages }
  const rules = rulesOf(world)
  return {
    task,
    plugin: (name, says) => builtin(world, name, says),
    apply: (trigger, given) => {
      answers = given
      task.events = []
      const worker = task.execution?.who
      const answer = (rules[trigger.kind] as (one: Trigger) => string)(trigger)
      // An agent that moves or judges its own task ends with that.
      if (answer === 'ok' && 'by' in trigger && trigger.by === worker && trigger.by !== 'user') task.execution = null
      passages.proceed()
      return seenOf(task, answer)
    },
  }
}

function builtin({ graph, task }: World, name: string, says: Answer): Result | null {
  const state = graph.state(task.state)
  const role = graph.role(state.name)
  const holder = task.roles[role ?? '']
  if (name === 'publish_task_blocked') return 'ok'
  if (name === 'dispatch_role_agent') {
    if (task.execution) return 'ok'
    if (role === null || holder === undefined || holder === 'user') return 'skipped'
    task.execution = { role, who: holder }
    return 'ok'
  }
  if (name !== 'run_ci_steps') return null
  if (says === 'failed') return 'rejected'
  // Without a reviewer, CI decides the review.
  const asks = state.gate_config?.requires_human_approval === true || holder !== undefined
  if (!asks) task.review = 'passed'
  return 'ok'
}

function rulesOf(world: World): Rules {
  const { definition, graph, task, passages } = world
  return {
    transition: ({ to, by, stale }) => {
      if (stale) return 'version_conflict'
      if (graph.terminal(task.state)) return 'task_terminal'
      const declared = graph.state(task.state).transitions.find((one) => one.to === to)
      if (!declared) return 'invalid_transition'
      if (!admits(declared.audience, by)) return 'audience_mismatch'
      if (task.barrier) return 'entry_barrier'
      if (to === graph.forward(task.state) && !isOpen(world, by)) return 'review_not_ready'
      return passages.ask({ to, by }) ? 'ok' : 'transition_blocked'
    },
    claim: ({ by }) => claim(world, by),
    verdict: (trigger) => verdict(world, trigger),
    cancel: ({ by }) => {
      if (graph.terminal(task.state)) return 'task_terminal'
      if (graph.cancellation === null) return 'invalid_transition'
      passages.force({ to: graph.cancellation, by })
      return 'ok'
    },
    execution_ends: ({ well }) => {
      if (!task.execution) return 'nothing_runs'
      task.execution = null
      endOf(world, well)
      return 'ok'
    },
    assign: ({ role, to }) => {
      const used = definition.states.map((state) => graph.role(state.name))
      if (!used.includes(role) && !definition.roles.some((one) => one.name === role)) return 'unknown_role'
      if (graph.terminal(task.state)) return 'task_terminal'
      task.roles[role] = to
      const isCoder = role === workRole(graph, graph.queue)
      const { kind } = graph.state(task.state)
      if (isCoder && kind !== 'backlog' && kind !== 'initial') {
        task.execution = null
        passages.follow({ to: graph.queue, by: 'user' })
      } else task.version += 1
      return 'ok'
    },
    recover: ({ action }) => recover(world, action),
  }
}

/**
 * Returns whether the gate lets its task through: its review has passed, and a person asks where one must approve.
 */
function isOpen({ graph, task }: World, by: Who): boolean {
  const state = graph.state(task.state)
  if (state.kind !== 'gate') return true
  if (graph.hasReview(state.name) && task.review !== 'passed') return false
  return by === 'user' || state.gate_config?.requires_human_approval !== true
}

/** The role that a claim gives: that of the first active state ahead. */
function workRole(graph: Graph, state: string): string | null {
  const active = graph.ahead(state).find((name) => graph.state(name).kind === 'active')
  return active === undefined ? null : graph.role(active)
}

function claim({ graph, task, passages }: World, by: Who): string {
  const { kind } = graph.state(task.state)
  if (kind === 'terminal') return 'task_terminal'
  if (task.execution) return 'already_claimed'
  if (kind !== 'active' && kind !== 'backlog' && kind !== 'initial') return 'not_claimable'
  const role = kind === 'active' ? graph.role(task.state) : workRole(graph, task.state)
  if (role === null) return 'not_claimable'
  const holder = task.roles[role]
  if (holder !== undefined && holder !== by) return 'already_claimed'
  if (task.barrier) return 'entry_barrier'
  const roles: Record<string, Who> = { ...task.roles, [role]: by }
  if (kind === 'active') {
    task.annotation = null
    task.passage = null
    if (by === 'user') task.rejections.clear()
    task.execution = { role, who: by }
  } else {
    const to = graph.ahead(task.state).find((name) => roles[graph.role(name) ?? ''] !== undefined)
    if (to === undefined) return 'not_claimable'
    if (!passages.ask({ to, by })) return 'transition_blocked'
    const works_as = graph.role(to) ?? role
    task.execution = { role: works_as, who: roles[works_as] ?? by }
  }
  task.roles[role] = by
  return 'ok'
}

/** An agent that still works at the gate has nothing left to judge. */
function verdict(world: World, trigger: OfKind<'verdict'>): string {
  const answer = judge(world, trigger)
  if (answer === 'ok') world.task.execution = null
  return answer
}

function judge({ graph, task, passages }: World, trigger: OfKind<'verdict'>): string {
  const { by } = trigger
  const gate = graph.state(task.state)
  if (gate.kind !== 'gate') return 'not_at_gate'
  if (by !== 'user' && task.roles[gate.role ?? ''] !== by) return 'forbidden'
  if (task.barrier) return 'entry_barrier'
  const hasReview = graph.hasReview(gate.name)
  if (trigger.verdict === 'fail') {
    return passages.reject({ by, depth: 0 }, true) ? 'ok' : 'transition_blocked'
  }
  if (hasReview && task.review !== 'running' && task.review !== 'passed') return 'review_not_ready'
  const waits = gate.gate_config?.requires_human_approval === true && by !== 'user'
  const next = gate.transitions[0]
  if (!hasReview && !waits && next) {
    if (!admits(next.audience, by)) return 'audience_mismatch'
    return passages.ask({ to: next.to, by }) ? 'ok' : 'transition_blocked'
  }
  if (hasReview && !waits) {
    task.review = 'passed'
    // A blocking hook still waits for a person.
    if (task.annotation !== 'hook_failed' || task.passage === null) task.annotation = null
  }
  if (by === 'user') task.rejections.clear()
  return 'ok'
}

/** A finished coder moves forward; a reviewer without a verdict, or a failed one, leaves the task in place. */
function endOf({ graph, task, passages }: World, well: boolean): void {
  const state = graph.state(task.state)
  const next = state.transitions[0]
  if (!well) task.annotation = 'execution_failed'
  else if (state.kind === 'active' && next) {
    if (admits(next.audience, 'system')) passages.follow({ to: next.to, by: 'system' })
    else task.annotation = 'execution_incomplete'
  } else if (state.kind === 'gate' && graph.hasReview(state.name) && task.review === 'running' && !task.barrier) {
    task.annotation = 'execution_incomplete'
  }
}

function recover({ graph, task, passages }: World, action: OfKind<'recover'>['action']): string {
  const isOver = task.annotation === 'execution_failed' || task.annotation === 'execution_incomplete'
  if (action === 'retry_execution' ? !isOver : task.annotation !== 'hook_failed') return 'recovery_not_available'
  task.annotation = null
  task.rejections.clear()
  if (action !== 'retry_execution') passages.release(action === 'skip_hook_once')
  const role = graph.role(task.state)
  const who = task.roles[role ?? '']
  if (action === 'retry_execution' && role !== null && who !== undefined) task.execution = { role, who }
  return 'ok'
}

function seenOf(task: ModelTask, answer: string): Seen {
  return {
    answer,
    state: task.state,
    barrier: task.barrier,
    version: task.version,
    annotation: task.annotation,
    roles: { ...task.roles },
    review: task.review,
    execution: task.execution?.role ?? null,
    audit: task.audit.map((entry) => ({ ...entry, hooks: [...entry.hooks] })),
    events: task.events,
  }
}
