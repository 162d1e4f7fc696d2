import { randomInt } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { validateWorkflow } from '../../src-main/domain/workflow/validate.ts'
import type { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import { drive } from './engine-drive.ts'
import { probes, startEngineRig, type EngineRig } from './engine-rig.ts'
import type { Answers } from './model-passage.ts'
import type { Answer, Seen } from './model-types.ts'
import { answerOf, randomSteps, triggerOf, type RandomStep } from './random-steps.ts'
import { randomWorkflow } from './random-workflow.ts'
import { createWorkflowModel, type WorkflowModel } from './workflow-model.ts'

const { COPSE_MODEL_STEPS: steps_wanted, COPSE_MODEL_SEED: seed_wanted } = process.env

const wanted = Number(steps_wanted ?? 3_000)

/** The usual run has a fixed seed; a longer one has random seeds. A failure names its seed. */
const seed = seed_wanted === undefined ? (steps_wanted === undefined ? 1 : randomInt(2 ** 31)) : Number(seed_wanted)

/** How many workflows share one database, so that no run slows down. */
const batch = 100

/** A task that is still busy then loops forever. */
const restLimitMs = 20_000

/** null if it takes longer. */
async function within<T>(limit_ms: number, work: Promise<T>): Promise<T | null> {
  const timer = new AbortController()
  const late = setTimeout(limit_ms, null, { signal: timer.signal }).catch(() => null)
  return Promise.race([work, late]).finally(() => timer.abort())
}

/** The answer of a hook in the engine's surroundings. */
function answersFor(answers: readonly Answer[], model: WorkflowModel): Answers {
  return (hook, phase) => {
    const name = hook.plugin ?? hook.script ?? ''
    const said = answerOf(answers, name)
    // A script can only succeed or fail.
    if (hook.script !== undefined) return said === 'failed' ? 'failed' : 'ok'
    const known = model.plugin(name, said)
    if (known !== null) return known
    return probes[name]?.includes(phase) === true ? said : 'skipped'
  }
}

async function compare(rig: EngineRig, definition: WorkflowDefinition, steps: readonly RandomStep[]): Promise<number> {
  const start = definition.initial_state ?? ''
  const model = createWorkflowModel(definition, start)
  const task = rig.task(definition, start)
  const told: string[] = []
  for (const step of steps) {
    const wasOver = isOver(definition, model)
    const trigger = triggerOf(step, definition, model.task)
    told.push(JSON.stringify({ ...trigger, answers: step.answers.join() }))
    rig.answer((action) => answerOf(step.answers, action))
    const engine = await within(restLimitMs, drive(rig, task.id, trigger))
    if (engine === null) throw new Error(['It does not come to rest.', JSON.stringify(definition), ...told].join('\n'))
    const expected = model.apply(trigger, answersFor(step.answers, model))
    if (!isDeepStrictEqual(engine, expected)) throw new Error(disagreement(definition, told, engine, expected))
    // A finished task is tested only once, because nothing can change it.
    if (wasOver) break
  }
  return told.length
}

const isOver = ({ states }: WorkflowDefinition, { task }: WorkflowModel) =>
  states.some((state) => state.name === task.state && state.kind === 'terminal')

/** Everything needed to follow it by hand, with only the differences. */
function disagreement(definition: WorkflowDefinition, told: readonly string[], engine: Seen, expected: Seen): string {
  const states = definition.states.map(({ column: _column, label: _label, transitions, ...state }) =>
    JSON.stringify({ ...state, transitions: transitions.map((one) => `${one.to} ${one.audience}`) }),
  )
  const differing = (Object.keys(expected) as (keyof Seen)[]).filter(
    (key) => !isDeepStrictEqual(engine[key], expected[key]),
  )
  const sides = differing.map(
    (key) => `${key}\n  engine ${JSON.stringify(engine[key])}\n  model  ${JSON.stringify(expected[key])}`,
  )
  return ['They disagree.', ...states, ...told, ...sides].join('\n')
}

test(`behaves as the model of the rules, over ${wanted} random steps`, { timeout: 3_600_000 }, async () => {
  let done = 0
  for (let round = 0; done < wanted; round += 1) {
    await using rig = await startEngineRig()
    await fc.assert(
      fc.asyncProperty(randomWorkflow, randomSteps, async (definition, steps) => {
        expect(validateWorkflow(definition, rig.engine.plugins)).toEqual([])
        done += await compare(rig, definition, steps)
      }),
      { numRuns: batch, seed: seed + round, unbiased: true },
    )
  }
  console.info(`${done} steps from seed ${seed} on, no disagreement.`)
})
