import type { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import { admits, graphOf, type Graph } from './model-graph.ts'
import { createPassages, type Answers, type Passages } from './model-passage.ts'
import { newTask, type ModelTask } from './model-task.ts'
import type { Seen, Trigger, Who } from './model-types.ts'

/** One task in one workflow, as the specification has it; nothing of the engine is in here. */
export interface WorkflowModel {
  readonly graph: Graph
  readonly task: ModelTask
  /** Does what is asked, to the end, and tells what there is to see then. */
  apply(trigger: Trigger, answers: Answers): Seen
}

type OfKind<K extends Trigger['kind']> = Extract<Trigger, { kind: K }>
type Rules = { readonly [K in Trigger['kind']]: (trigger: OfKind<K>) => string }

export function createWorkflowModel(definition: WorkflowDefinition, start: string): WorkflowModel {
  const graph = graphOf(definition)
  const task = newTask(start)
  let answers: Answers = () => 'ok'
  const passages = createPassages(graph, task, () => answers)
  const rules = rulesOf(graph, task, passages)
  return {
    graph,
    task,
    apply: (trigger, given) => {
      answers = given
      task.events = []
      const answer = (rules[trigger.kind] as (one: Trigger) => string)(trigger)
      passages.proceed()
      return seenOf(task, answer)
    },
  }
}

function rulesOf(graph: Graph, task: ModelTask, passages: Passages): Rules {
  /** A person's word counts: what was rejected before does not use up the budget any more. */
  const attend = (by: Who) => {
    if (by === 'user') task.rejections.clear()
  }
  const move = (to: string, by: Who): string => {
    if (!passages.begin({ to, by })) return 'transition_blocked'
    attend(by)
    return 'ok'
  }
  return {
    transition: ({ to, by, stale }) => {
      if (stale) return 'version_conflict'
      if (graph.terminal(task.state)) return 'task_terminal'
      const declared = graph.state(task.state).transitions.find((one) => one.to === to)
      if (!declared) return 'invalid_transition'
      if (!admits(declared.audience, by)) return 'audience_mismatch'
      if (task.barrier) return 'entry_barrier'
      if (isForward(graph, task.state, to) && awaitsReview(graph, task)) return 'review_not_ready'
      return move(to, by)
    },
    claim: ({ by }) => claim(graph, task, passages, by, attend),
    verdict: (trigger) => verdict(graph, task, passages, trigger, move, attend),
    cancel: ({ by }) => {
      if (graph.terminal(task.state)) return 'task_terminal'
      if (graph.cancellation === null) return 'invalid_transition'
      passages.begin({ to: graph.cancellation, by, unasked: true })
      return 'ok'
    },
    execution_ends: ({ well }) => {
      if (!task.execution) return 'nothing_runs'
      task.execution = null
      task.ended = well ? 'well' : 'badly'
      const next = graph.forward(task.state)
      if (!well) task.annotation = 'execution_failed'
      else if (graph.state(task.state).kind === 'active' && next !== null) passages.begin({ to: next, by: 'system' })
      return 'ok'
    },
    assign: ({ role, to }) => assign(graph, task, passages, role, to),
    recover: ({ action }) => recover(task, action, attend),
  }
}

const isForward = (graph: Graph, from: string, to: string) => graph.forward(from) === to
const awaitsReview = (graph: Graph, task: ModelTask) => graph.hasReview(task.state) && task.review !== 'passed'

/** The role that a claim gives: that of the first active state ahead, or of the one where the task stands. */
function claimedRole(graph: Graph, state: string): string | null {
  const active = [state, ...graph.ahead(state)].find((name) => graph.state(name).kind === 'active')
  return active === undefined ? null : graph.role(active)
}

function claim(graph: Graph, task: ModelTask, passages: Passages, by: Who, attend: (by: Who) => void): string {
  const { kind } = graph.state(task.state)
  if (kind === 'terminal') return 'task_terminal'
  const role = claimedRole(graph, task.state)
  if (kind === 'active') {
    if (task.execution) return 'already_claimed'
    if (task.barrier) return 'entry_barrier'
    if (role === null || (task.roles[role] !== undefined && task.roles[role] !== by)) return 'already_claimed'
    task.annotation = null
    task.execution = { role, who: by }
    attend(by)
    return 'ok'
  }
  if ((kind !== 'backlog' && kind !== 'initial') || role === null) return 'not_claimable'
  if (task.barrier) return 'entry_barrier'
  if (task.roles[role] !== undefined && task.roles[role] !== by) return 'already_claimed'
  const roles: Record<string, Who> = { ...task.roles, [role]: by }
  const to = graph.ahead(task.state).find((name) => roles[graph.role(name) ?? ''] !== undefined)
  if (to === undefined) return 'not_claimable'
  if (!passages.begin({ to, by })) return 'transition_blocked'
  task.roles[role] = by
  task.workspace = true
  attend(by)
  return 'ok'
}

function verdict(
  graph: Graph,
  task: ModelTask,
  passages: Passages,
  trigger: OfKind<'verdict'>,
  move: (to: string, by: Who) => string,
  attend: (by: Who) => void,
): string {
  const gate = graph.state(task.state)
  if (gate.kind === 'terminal') return 'task_terminal'
  if (gate.kind !== 'gate') return 'not_at_gate'
  if (trigger.by !== 'user' && task.roles[gate.role ?? ''] !== trigger.by) return 'forbidden'
  if (task.barrier) return 'entry_barrier'
  attend(trigger.by)
  if (trigger.verdict === 'fail') {
    if (graph.hasReview(gate.name)) task.review = 'failed'
    passages.reject(trigger.by, 0)
    return 'ok'
  }
  const waits = gate.gate_config?.requires_human_approval === true && trigger.by !== 'user'
  if (waits) return 'ok'
  if (graph.hasReview(gate.name)) {
    task.review = 'passed'
    return 'ok'
  }
  const next = graph.forward(gate.name)
  return next === null ? 'invalid_transition' : move(next, trigger.by)
}

function assign(graph: Graph, task: ModelTask, passages: Passages, role: string, to: Who): string {
  if (graph.terminal(task.state)) return 'task_terminal'
  const isCoder = role === claimedRole(graph, graph.queue)
  const { kind } = graph.state(task.state)
  task.roles[role] = to
  if (isCoder && kind !== 'backlog' && kind !== 'initial') {
    task.review = task.review === 'passed' ? 'cancelled' : task.review
    return passages.begin({ to: graph.queue, by: 'user' }) ? 'ok' : 'transition_blocked'
  }
  return 'ok'
}

function recover(task: ModelTask, action: OfKind<'recover'>['action'], attend: (by: Who) => void): string {
  const fits = action === 'retry_execution' ? task.annotation === 'execution_failed' : task.annotation === 'hook_failed'
  if (!fits) return 'recovery_not_available'
  attend('user')
  task.annotation = null
  if (action === 'skip_hook_once') {
    const skipped = task.passage?.points.shift()
    if (skipped?.kind === 'hook') {
      task.passage?.entry.hooks.push({
        phase: skipped.phase,
        action: skipped.hook.plugin ?? skipped.hook.script ?? '',
        outcome: 'skipped',
      })
    }
  }
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
