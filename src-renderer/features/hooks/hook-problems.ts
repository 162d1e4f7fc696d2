import { ApiError } from '../../../src-shared/contract/errors.ts'
import { hookEvents, type HookEvent, type PluginInfo } from '../../../src-shared/contract/lifecycle-hooks.ts'
import { codesOf, numberOf, type HookDraft, type HooksDraft } from '../../model/hook-draft.ts'
import { count } from '../../formatters/format-amounts.ts'
import { optionFields, optionProblem, parseObject, pluginNamed } from './plugin-options.ts'

/**
 * The error of a hook's field. `field` is a path of the service, such as `timeout_seconds` or
 * `config.limit`.
 */
export interface HookProblem {
  readonly key: string
  readonly field: string
  readonly message: string
}

/** Returns all errors that prevent saving, in page order. */
export function problemsOf(draft: HooksDraft, plugins: readonly PluginInfo[] | null): HookProblem[] {
  return hookEvents.flatMap((event) => draft[event].flatMap((hook) => hookProblems(hook, plugins)))
}

export function hookProblems(hook: HookDraft, plugins: readonly PluginInfo[] | null): HookProblem[] {
  const at = (field: string, message: string | null) => (message === null ? [] : [{ key: hook.key, field, message }])
  if (hook.type === 'script') {
    return [
      ...at('command', commandProblem(hook.command)),
      ...at('timeout_seconds', timeoutProblem(hook.timeout)),
      ...at('success_exit_codes', codesProblem(hook.codes)),
    ]
  }
  const plugin = pluginNamed(plugins, hook.name)
  const unknown = plugins !== null && plugin === undefined
  return [
    ...at('name', unknown ? `There is no plugin called ${hook.name}. Choose another, or remove it.` : null),
    ...at('config', hook.json !== null && parseObject(hook.json) === null ? 'Enter a JSON object.' : null),
    ...optionFields(plugin?.options ?? {}).flatMap((field) =>
      at(`config.${field.name}`, optionProblem(field, hook.config[field.name])),
    ),
  ]
}

const LONGEST_SCRIPT = 100_000

function commandProblem(command: string): string | null {
  const { length } = command.trim()
  if (length === 0) return 'Enter a script or a program path.'
  return length > LONGEST_SCRIPT ? `At most ${count(LONGEST_SCRIPT, 'character')}: put it into a file.` : null
}

function timeoutProblem(text: string): string | null {
  const seconds = numberOf(text)
  return seconds >= 1 && seconds <= 86_400 ? null : 'Whole seconds, from 1 to 86,400 (a day).'
}

function codesProblem(text: string): string | null {
  const codes = codesOf(text)
  if (codes.length === 0) return 'At least one exit code, usually 0.'
  return codes.every((code) => code >= 0 && code <= 255) ? null : 'Whole numbers from 0 to 255, with commas between.'
}

/** Returns a warning if the plugin has no effect at this event; saving is still possible. */
export function pluginWarning(hook: HookDraft, event: HookEvent, plugins: readonly PluginInfo[] | null): string | null {
  const plugin = hook.type === 'plugin' ? pluginNamed(plugins, hook.name) : undefined
  if (plugin === undefined || plugin.events.includes(event)) return null
  const fits =
    plugin.events.length === 0 ? 'It works in workflow states only.' : `It works at ${plugin.events.join(', ')}.`
  return `Does nothing at ${event}: each run is skipped. ${fits}`
}

/** Errors reported by the service; `rest` belongs to no hook of the draft. */
export interface Refused {
  readonly problems: readonly HookProblem[]
  readonly rest: readonly string[]
}

/**
 * Parses paths such as `lifecycle_hooks.before_work.0.timeout_seconds`; returns null for any other
 * error.
 */
export function refusedHooks(error: unknown, draft: HooksDraft): Refused | null {
  if (!(error instanceof ApiError) || error.code !== 'validation_failed') return null
  const issues: unknown = error.details?.['issues']
  if (!Array.isArray(issues)) return null
  const read = issues.filter(isIssue).map((issue) => ({ issue, problem: problemAt(issue, draft) }))
  return {
    problems: read.flatMap(({ problem }) => problem ?? []),
    rest: read.flatMap(({ issue, problem }) => (problem ? [] : issue.message)),
  }
}

interface Issue {
  readonly path: string
  readonly message: string
}

function isIssue(value: unknown): value is Issue {
  if (typeof value !== 'object' || value === null || !('path' in value) || !('message' in value)) return false
  return typeof value.path === 'string' && typeof value.message === 'string'
}

function problemAt({ path, message }: Issue, draft: HooksDraft): HookProblem | null {
  const parts = path.split('.')
  const at = parts.findIndex((part) => hookEvents.some((event) => event === part))
  const event = hookEvents.find((each) => each === parts[at])
  const hook = event && draft[event][numberOf(parts[at + 1] ?? '')]
  if (!hook) return null
  const [first = hook.type === 'script' ? 'command' : 'name', ...deeper] = parts.slice(at + 2)
  // The elements of an exit code list share one field; plugin options have one each.
  return { key: hook.key, field: first === 'config' && deeper[0] ? `config.${deeper[0]}` : first, message }
}
