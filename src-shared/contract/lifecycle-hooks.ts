import { z } from 'zod'
import { Timestamp } from './ids.ts'
import { audiences, hookPhases } from './workflow-definition.ts'

/** Events of a task at which a project's own hooks run. */
export const hookEvents = ['before_work', 'on_work_start', 'on_work_stop', 'on_task_done', 'on_task_cancel'] as const
export type HookEvent = (typeof hookEvents)[number]

const applies_to = z.enum(audiences).default('all').describe('Whose transitions run it.')

export const ScriptHook = z.strictObject({
  type: z.literal('script'),
  command: z
    .string()
    .trim()
    .min(1)
    .max(100_000)
    .describe('A shell snippet, or the path of an executable; it runs in the task’s worktree.'),
  timeout_seconds: z.int().min(1).max(86_400).default(30),
  blocking: z.boolean().default(false).describe('Only at `before_work`: no agent starts until it has succeeded.'),
  success_exit_codes: z.array(z.int().min(0).max(255)).min(1).max(256).default([0]),
  applies_to,
})
export type ScriptHook = z.infer<typeof ScriptHook>

export const PluginHook = z.strictObject({
  type: z.literal('plugin'),
  name: z.string().min(1).max(100),
  enabled: z.boolean().default(true),
  config: z.record(z.string(), z.unknown()).optional().describe('The plugin’s options.'),
  applies_to,
})
export type PluginHook = z.infer<typeof PluginHook>

export const LifecycleHook = z.discriminatedUnion('type', [ScriptHook, PluginHook]).meta({ id: 'LifecycleHook' })
export type LifecycleHook = z.infer<typeof LifecycleHook>

/** The hooks of each event, in order. */
export const LifecycleHooks = z
  .partialRecord(z.enum(hookEvents), z.array(LifecycleHook).max(50))
  .superRefine((hooks, context) => {
    for (const [event, list] of Object.entries(hooks)) {
      if (event === 'before_work') continue
      for (const [index, hook] of list.entries()) {
        if (hook.type !== 'script' || !hook.blocking) continue
        const message = `Only a hook at before_work can block; nothing waits for one at ${event}.`
        context.addIssue({ code: 'custom', path: [event, index, 'blocking'], message })
      }
    }
  })
  .meta({ id: 'LifecycleHooks' })
export type LifecycleHooks = z.infer<typeof LifecycleHooks>

const hookRunStatuses = ['running', 'succeeded', 'failed', 'timed_out', 'skipped'] as const

/** One run of one hook: its log line, or, while `running`, its data so far. */
export const HookRun = z
  .object({
    log_name: z.string().describe('The log that keeps it: `hook-{event}-{index}-{timestamp}.jsonl`; empty for a test.'),
    event: z.enum([...hookEvents, ...hookPhases]).describe('The moment; for a script of a workflow state, its phase.'),
    index: z.int().min(0).describe('Its place among the hooks of that moment, from 0.'),
    type: z.enum(['script', 'plugin']),
    command: z.string().optional().describe('Of a script.'),
    plugin: z.string().optional().describe('Of a plugin: its name.'),
    blocking: z.boolean(),
    timeout_seconds: z.int().nullable().describe('null for a plugin.'),
    started_at: Timestamp,
    duration_ms: z.int().nullable().describe('null while it runs.'),
    status: z.enum(hookRunStatuses),
    exit_code: z.int().nullable(),
    reason: z.string().nullable().describe('Why it was skipped or failed, in a few words.'),
    stdout: z.string().describe('At most 10 KB: the end of it, with a note of how much came before.'),
    stderr: z.string(),
    environment: z.record(z.string(), z.string()).describe('The `SVC_` variables that it was given.'),
  })
  .meta({ id: 'HookRun' })
export type HookRun = z.infer<typeof HookRun>

/** A plugin's purpose and allowed phases, for the editors. */
export const PluginInfo = z
  .object({
    name: z.string(),
    purpose: z.string(),
    phases: z.array(z.enum(hookPhases)).describe('The phases of a workflow state that it supports.'),
    events: z.array(z.enum(hookEvents)).describe('The lifecycle events that it supports.'),
    options: z.record(z.string(), z.unknown()).describe('JSON Schema of its `config`.'),
  })
  .meta({ id: 'PluginInfo' })
export type PluginInfo = z.infer<typeof PluginInfo>
