import { z } from 'zod'
import { hookPhases, WorkflowDefinition, WorkflowTraits, WorkflowWarning } from './workflow-definition.ts'

export const TemplateName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'Use a to z, 0 to 9, - and _; at most 64, beginning with a letter or digit.')

/** A named workflow as a starting point. An unusable file is listed with its `error` and without a definition. */
export const WorkflowTemplate = z
  .object({
    name: z.string(),
    description: z.string(),
    builtin: z.boolean(),
    definition: WorkflowDefinition.nullable(),
    error: z.string().nullable(),
    warnings: z.array(WorkflowWarning).optional().describe('In the answer to a change: keys that do nothing.'),
  })
  .meta({ id: 'WorkflowTemplate' })
export type WorkflowTemplate = z.infer<typeof WorkflowTemplate>

/** The steps of a simulated task on every path through a workflow. */
export const DryRun = z
  .object({
    paths: z.array(
      z.object({
        name: z.string(),
        states: z.array(z.string()),
        hooks: z.array(z.object({ state: z.string(), phase: z.enum(hookPhases), action: z.string() })),
        ends_in: z.string(),
      }),
    ),
    loops: z.array(
      z.object({
        states: z.array(z.string()),
        budget: z.int().nullable().describe('How often a gate lets the task go round; null without a limit.'),
      }),
    ),
    dead_ends: z.array(z.string()).describe('States that are not terminal and that nothing leads out of.'),
    stuck_gates: z
      .array(z.object({ state: z.string(), reason: z.string() }))
      .describe('Gates that no one can pass, and why.'),
    warnings: z.array(WorkflowWarning).describe('Keys of the given definition that do nothing.'),
    traits: WorkflowTraits,
  })
  .meta({ id: 'DryRun' })
export type DryRun = z.infer<typeof DryRun>
