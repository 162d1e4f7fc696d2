import { shallowRef } from 'vue'
import type { Task, TaskMove } from '../../../src-shared/contract/tasks.ts'
import { useAgents } from '../../stores/agents.ts'
import { useProjects } from '../../stores/projects.ts'
import { useTasks } from '../../stores/tasks.ts'
import { useToasts } from '../../stores/toasts.ts'
import { stateOf } from '../../stores/workflow-shape.ts'

/** A question that a move asks before it is made. */
export type MoveQuestion =
  | { readonly kind: 'agent'; readonly task: Task; readonly to: string | null }
  | { readonly kind: 'feedback'; readonly task: Task; readonly to: string }
  | { readonly kind: 'cancel'; readonly task: Task }
  | { readonly kind: 'move'; readonly task: Task; readonly moves: readonly TaskMove[] | null }

/** Makes moves by the operation that each names, asking first where something must be known. */
export function useMoves() {
  const tasks = useTasks()
  const agents = useAgents()
  const projects = useProjects()
  const toasts = useToasts()
  const question = shallowRef<MoveQuestion | null>(null)

  const labelOf = (task: Task, state: string) => stateOf(projects.workflow(task.project_id), state)?.label ?? state
  const stays = (task: Task) => `“${task.title}” stays in ${labelOf(task, task.status)}.`

  /** Runs the change with the card already where it goes; a refusal brings it back and says why. */
  async function optimistic(task: Task, to: string | null, work: () => Promise<unknown>): Promise<void> {
    try {
      await (to === null ? work() : tasks.moving(task.id, to, work))
    } catch (error) {
      toasts.refused(error, stays(task))
    }
  }
  /** The agent that the task's own roles name, if it may work. */
  function knownAgent(task: Task): string | null {
    const roles = projects
      .workflow(task.project_id)
      ?.states.flatMap((state) => (state.kind === 'active' ? [state.role ?? 'assignee'] : []))
    for (const role of roles ?? []) {
      const assignee = task.roles[role]
      if (assignee?.type === 'agent' && agents.byId.get(assignee.id)?.paused === false) return assignee.id
    }
    return null
  }
  const claim = (task: Task, to: string | null, agentId: string | null) =>
    optimistic(task, to, () => tasks.claim(task.id, agentId ?? undefined))

  async function start(task: Task, to: string | null = null): Promise<void> {
    const agent = knownAgent(task)
    if (agent !== null) return claim(task, to, agent)
    question.value = { kind: 'agent', task, to }
  }
  async function perform(task: Task, move: TaskMove): Promise<void> {
    switch (move.via) {
      case 'claim':
        return start(task, move.to)
      case 'verdict_fail':
        question.value = { kind: 'feedback', task, to: move.to }
        return
      case 'cancel':
        question.value = { kind: 'cancel', task }
        return
      case 'transition':
        return optimistic(task, move.to, () => tasks.transition(task.id, move.to))
    }
  }
  async function askMove(task: Task): Promise<void> {
    question.value = { kind: 'move', task, moves: null }
    try {
      const moves = await tasks.moves(task.id)
      if (question.value?.kind === 'move' && question.value.task.id === task.id)
        question.value = { kind: 'move', task, moves }
    } catch (error) {
      question.value = null
      toasts.refused(error, stays(task))
    }
  }
  return {
    question,
    perform,
    start,
    askMove,
    askCancel: (task: Task) => void (question.value = { kind: 'cancel', task }),
    close: () => void (question.value = null),
    claim,
    sendBack: (task: Task, to: string, feedback: string) =>
      optimistic(task, to, () => tasks.verdict(task.id, 'fail', feedback)),
    cancel: (task: Task) => optimistic(task, null, () => tasks.cancel(task.id)),
    refused: (task: Task, reason: string) => toasts.warn(`${stays(task)} ${reason}`),
    unreachable: (error: unknown) => toasts.refused(error, 'The board could not be loaded.'),
    failed: (task: Task, error: unknown) => toasts.refused(error, stays(task)),
  }
}

export type Moves = ReturnType<typeof useMoves>
