import { z } from 'zod'

export const stateKinds = ['backlog', 'initial', 'active', 'gate', 'terminal', 'custom'] as const
export const audiences = ['all', 'agent_only', 'user_only'] as const
export const hookPhases = ['before_exit', 'on_exit', 'before_enter', 'on_enter', 'after_enter'] as const
export type HookPhase = (typeof hookPhases)[number]

/** What the plugins in its hooks make of a state. */
export const stateTraits = [
  'needs_worktree',
  'makes_gate',
  'merges',
  'takes_blocked',
  'dispatches',
  'owns_cleanup',
  'follows_review',
  'injects_knowledge',
  'awaits_pull_request',
] as const
export type StateTrait = (typeof stateTraits)[number]

const Traits = z.record(z.string(), z.array(z.enum(stateTraits)))

/** By state what the plugins in its hooks make of it, and by plugin what it makes of a state. */
export const WorkflowTraits = z
  .object({ states: Traits, plugins: Traits })
  .describe(
    'By state what the plugins in its hooks make of it, and by plugin what it makes of a state. `needs_worktree`: the ' +
      'worktree is made first. `makes_gate`: a gate keeps a review with checks. `merges`: the branch is merged. ' +
      '`takes_blocked`: tasks that need a person go there. `dispatches`: the one with the role starts. `owns_cleanup`: ' +
      'the hooks say when the worktree goes. `follows_review`: it leads on once the review has passed. ' +
      '`injects_knowledge`: agents are told what the project has learned. `awaits_pull_request`: it is left once the ' +
      'pull request is merged.',
  )
  .meta({ id: 'WorkflowTraits' })
export type WorkflowTraits = z.infer<typeof WorkflowTraits>

const Cascade = z.object({ cascade: z.string().min(1) })

/** One action at a hook point: a built-in plugin or an inline script. */
export const StateHook = z
  .object({
    plugin: z.string().min(1).optional(),
    config: z.record(z.string(), z.unknown()).optional(),
    script: z.string().min(1).optional(),
    timeout_seconds: z.int().min(1).max(86_400).optional(),
    applies_to: z.enum(audiences).optional(),
    on_failure: z.union([z.literal('log'), Cascade]).optional(),
    on_success: Cascade.optional(),
  })
  .refine((hook) => (hook.plugin === undefined) !== (hook.script === undefined), {
    message: 'Set either plugin or script.',
  })
export type StateHook = z.infer<typeof StateHook>

const WorkflowTransition = z.object({
  to: z.string(),
  label: z.string(),
  audience: z.enum(audiences).default('all'),
})

const GateConfig = z.object({
  max_rejections: z.int().min(0).optional(),
  reject_target: z.string().optional(),
  requires_human_approval: z.boolean().default(false),
})

export const WorkflowState = z.object({
  name: z.string().min(1).max(64),
  kind: z.enum(stateKinds),
  role: z.string().optional(),
  wip_limit: z
    .int()
    .min(1)
    .optional()
    .describe(
      'How many tasks may be in the state when an agent claims one into it. People, rejections and hooks may go over.',
    ),
  pulls: z.boolean().optional().describe('Takes the next task of the column before when there is room.'),
  column: z.string(),
  label: z.string(),
  transitions: z.array(WorkflowTransition).default([]),
  gate_config: GateConfig.optional(),
  hooks: z.partialRecord(z.enum(hookPhases), z.array(StateHook)).optional(),
  cleanup: z
    .discriminatedUnion('policy', [
      z.object({ policy: z.literal('immediate') }),
      z.object({ policy: z.literal('delayed'), seconds: z.int().min(0) }),
    ])
    .optional(),
  renamed_from: z.string().optional(),
})
export type WorkflowState = z.infer<typeof WorkflowState>

/** A key of a definition that is kept and does nothing. */
export const WorkflowWarning = z.object({ path: z.string(), message: z.string() }).meta({ id: 'WorkflowWarning' })
export type WorkflowWarning = z.infer<typeof WorkflowWarning>

/** A project's workflow. The order of `states` is the order of the columns. */
export const WorkflowDefinition = z
  .object({
    roles: z.array(z.object({ name: z.string().min(1), label: z.string() })).default([]),
    states: z.array(WorkflowState).min(1).max(1_000),
    cancellation_state: z.string().optional(),
    initial_state: z.string().optional(),
    traits: WorkflowTraits.optional().describe('In answers, what its plugins mean. Ignored in what is sent.'),
  })
  .meta({ id: 'WorkflowDefinition' })
export type WorkflowDefinition = z.infer<typeof WorkflowDefinition>
