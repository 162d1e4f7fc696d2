import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { validateWorkflow } from '../../src-main/domain/workflow/validate.ts'
import type { StateHook, WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import { drive } from './engine-drive.ts'
import { probes, startEngineRig, type EngineRig } from './engine-rig.ts'
import { actionOf, type Result } from './model-types.ts'
import { answerOf, randomSteps, randomWorkflow, type RandomStep } from './random-workflow.ts'
import { createWorkflowModel } from './workflow-model.ts'

const wanted = Number(process.env['COPSE_MODEL_STEPS'] ?? 3_000)

/** What a hook of the definition answers, as the engine's surroundings have it. */
function answersFor(results: readonly Result[]) {
  return (hook: StateHook): Result => {
    const said = answerOf(results, hook.plugin === 'run_ci_steps' ? 'ci-0' : actionOf(hook))
    // A script can only say yes or no.
    if (hook.script !== undefined) return said === 'failed' || said === 'rejected' ? 'failed' : 'ok'
    return said
  }
}

async function compare(rig: EngineRig, definition: WorkflowDefinition, steps: readonly RandomStep[]): Promise<number> {
  const start = definition.initial_state ?? ''
  const model = createWorkflowModel(definition, start)
  const task = rig.task(definition, start)
  const told: string[] = []
  for (const step of steps) {
    const trigger = step.trigger(definition, model.task.state)
    told.push(JSON.stringify({ ...trigger, results: step.results.join() }))
    rig.answer((action) => answerOf(step.results, action === 'ci' ? 'ci-0' : action))
    const engine = await drive(rig, task.id, trigger)
    const expected = model.apply(trigger, answersFor(step.results))
    if (isDeepStrictEqual(engine, expected)) continue
    expect({ told, engine }).toEqual({ told, engine: expected })
  }
  return steps.length
}

test(
  `the engine does what the model of the rules does, over ${wanted} random steps`,
  { timeout: 3_600_000 },
  async () => {
    await using rig = await startEngineRig()
    let done = 0
    while (done < wanted) {
      await fc.assert(
        fc.asyncProperty(randomWorkflow, randomSteps, async (definition, steps) => {
          expect(validateWorkflow(definition, rig.engine.plugins)).toEqual([])
          done += await compare(rig, definition, steps)
        }),
        { numRuns: 100, ...(process.env['COPSE_MODEL_SEED'] && { seed: Number(process.env['COPSE_MODEL_SEED']) }) },
      )
    }
    console.info(`${done} steps, no disagreement.`)
    expect(Object.keys(probes).length).toBeGreaterThan(0)
  },
)
