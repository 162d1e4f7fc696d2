import type { Actor } from '../../src-main/tasks/action-services.ts'
import type { EventEnvelope } from '../../src-shared/contract/events.ts'
import type { Assignee } from '../../src-shared/contract/tasks.ts'
import type { AgentId, TaskId } from '../../src-shared/contract/ids.ts'
import { ended } from './engine-fakes.ts'
import type { EngineRig } from './engine-rig.ts'
import type { Seen, SeenEvent, Trigger, Who } from './model-types.ts'

/** Sends the trigger to the engine, waits until the task rests, and returns what is visible. */
export async function drive(rig: EngineRig, task_id: TaskId, trigger: Trigger): Promise<Seen> {
  const since = rig.store.read.events.range().last
  const worker = rig.store.read.executions.openOfTask(task_id)[0]
  const answer = await ask(rig, task_id, trigger)
  if (answer === 'ok' && worker && isOwn(rig, trigger, worker.agent_id)) rig.running.get(task_id)?.end(ended(0))
  await rig.rest(task_id)
  return seenOf(rig, task_id, answer, rig.store.read.events.after(since, 1_000))
}

/** An agent that moves or judges its own task ends with that. */
function isOwn(rig: EngineRig, trigger: Trigger, agent_id: AgentId | null): boolean {
  if (!('by' in trigger) || trigger.by === 'user' || trigger.by === 'system') return false
  return rig.ids[trigger.by] === agent_id
}

const signal = new AbortController().signal

function actorOf(rig: EngineRig, who: Who): Actor {
  if (who === 'user') return { triggered_by: 'user:ada', agent_id: null, execution_id: null }
  if (who === 'system') return { triggered_by: 'system', agent_id: null, execution_id: null }
  return { triggered_by: `agent:${rig.ids[who]}`, agent_id: rig.ids[who], execution_id: null }
}

function assigneeOf(rig: EngineRig, who: 'user' | 'coder' | 'reviewer'): Assignee {
  return who === 'user' ? { type: 'user', id: rig.ids.user } : { type: 'agent', id: rig.ids[who] }
}

async function ask(rig: EngineRig, task_id: TaskId, trigger: Trigger): Promise<string> {
  const { actions, claims } = rig.engine
  const task = rig.store.read.tasks.get(task_id)
  if (!task) throw new Error('The task is gone.')
  const told = (result: object) => ('code' in result ? String(result.code) : 'ok')
  switch (trigger.kind) {
    case 'transition': {
      const version = trigger.stale ? task.version - 1 : task.version
      const request = { task_id, status: trigger.to, version, reason: null }
      return told(await actions.transition(request, actorOf(rig, trigger.by), signal))
    }
    case 'claim': {
      const claimant = assigneeOf(rig, trigger.by)
      const { triggered_by } = actorOf(rig, trigger.by)
      const by_person = trigger.by === 'user'
      return told(await claims.claim({ task_id, claimant, triggered_by, by_person, overrides: {} }, signal))
    }
    case 'verdict': {
      const actor = actorOf(rig, trigger.by)
      const { triggered_by } = actor
      const by = assigneeOf(rig, trigger.by)
      const judged = {
        task_id,
        verdict: trigger.verdict,
        feedback: 'Because.',
        version: null,
        comment_ids: null,
        tree: null,
        by,
        triggered_by,
      }
      return told(await actions.verdict(judged, actor, signal))
    }
    case 'cancel':
      return told(await actions.cancel(task_id, actorOf(rig, trigger.by)))
    case 'execution_ends':
      return endExecution(rig, task_id, trigger.well)
    case 'assign': {
      const request = { task_id, role: trigger.role, assignee: assigneeOf(rig, trigger.to) }
      return told(await actions.assignRole(request, actorOf(rig, 'user')))
    }
    case 'recover': {
      const request = { task_id, action: trigger.action, reason: 'The test says so.' }
      return told(await actions.recover(request, actorOf(rig, 'user'), signal))
    }
  }
}

async function endExecution(rig: EngineRig, task_id: TaskId, well: boolean): Promise<string> {
  const [open] = rig.store.read.executions.openOfTask(task_id)
  if (!open) return 'nothing_runs'
  const outcome = ended(well ? 0 : 1)
  const run = rig.running.get(task_id)
  if (run) run.end(outcome)
  else await rig.engine.executions.finish(open.id, outcome)
  return 'ok'
}

function seenOf(rig: EngineRig, task_id: TaskId, answer: string, events: readonly EventEnvelope[]): Seen {
  const { read } = rig.store
  const task = read.tasks.get(task_id)
  if (!task) throw new Error('The task is gone.')
  const name = (id: string): Who => (id === rig.ids.coder ? 'coder' : id === rig.ids.reviewer ? 'reviewer' : 'user')
  const by = (triggered_by: string): Who =>
    triggered_by === 'system' ? 'system' : triggered_by.startsWith('user:') ? 'user' : name(triggered_by.slice(6))
  return {
    answer,
    state: task.status,
    barrier: task.entry_barrier,
    version: task.version,
    annotation: task.error_annotation?.type ?? null,
    roles: Object.fromEntries(Object.entries(task.roles).map(([role, one]) => [role, name(one.id)])),
    review: read.reviews.latest(task_id)?.status ?? null,
    execution: read.executions.openOfTask(task_id)[0]?.role ?? null,
    audit: read.transitions.byTask(task_id).map((entry) => ({
      from: entry.from_state,
      to: entry.to_state,
      by: by(entry.triggered_by),
      rejection: entry.rejection,
      // A verdict at a gate without a review is stored there too.
      hooks: entry.hooks.flatMap(({ phase, action, outcome }) =>
        action === 'verdict' ? [] : [{ phase, action, outcome }],
      ),
    })),
    events: events.flatMap(({ type, data }): SeenEvent[] => {
      if (!('task_id' in data) || data.task_id !== task_id) return []
      if (type === 'task.transitioned') {
        const { from_state, to_state, triggered_by } = data
        return [{ type: 'transitioned', from: from_state, to: to_state, by: by(triggered_by) }]
      }
      if (type !== 'transition.effect_failed') return []
      return [{ type: 'effect_failed', phase: data.phase as 'on_exit', action: data.action }]
    }),
  }
}
