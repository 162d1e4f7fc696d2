import type { Refusal } from '../../../src-shared/contract/errors.ts'
import { findUnknownKeys } from '../../../src-shared/contract/unknown-keys.ts'
import { WorkflowDefinition, type WorkflowWarning } from '../../../src-shared/contract/workflow-definition.ts'
import { validateWorkflow, type PluginChecks, type WorkflowIssue } from './validate.ts'

/** A definition is at most this long as JSON, so that every answer about it comes at once. */
const maxDefinitionLength = 1_000_000

/** Deep enough for any plugin's options, and far from what recursion can bear. */
const maxDepth = 32

/** The result of reading a workflow; `definition` exists only if `issues` is empty. */
export type ReadDefinition =
  | { readonly definition: WorkflowDefinition; readonly issues: readonly [] }
  | { readonly definition: null; readonly issues: readonly [WorkflowIssue, ...WorkflowIssue[]] }

/** Returns what is kept of a usable definition but means nothing to the engine: keys that it does not know. */
export function definitionWarnings(value: unknown): WorkflowWarning[] {
  return findUnknownKeys(WorkflowDefinition, value)
    .slice(0, 100)
    .map(({ path, key, nearest }) => ({
      path,
      message: `${key} means nothing here and does nothing.${nearest === null ? '' : ` Did you mean ${nearest}?`}`,
    }))
}

/** Reads a definition from JSON; what is no JSON breaks the rule `schema`. */
export function readDefinitionText(text: string, plugins: PluginChecks): ReadDefinition {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return broken('', `The workflow isn't valid JSON: ${error instanceof Error ? error.message : 'it can’t be read'}`)
  }
  return readDefinition(value, plugins)
}

/** Reads a definition from a parsed value: its size, its shape, then every rule. */
export function readDefinition(value: unknown, plugins: PluginChecks): ReadDefinition {
  const tooMuch = isTooMuch(value)
  if (tooMuch !== null) return broken('', tooMuch)
  const blocking = findBlocking(value)
  if (blocking) return { definition: null, issues: [blocking] }
  const parsed = WorkflowDefinition.safeParse(value)
  if (!parsed.success) {
    const [first, ...rest] = parsed.error.issues.map(({ path, message }) => schemaIssue(path.join('.'), message))
    return { definition: null, issues: [first ?? schemaIssue('', 'The workflow has the wrong shape.'), ...rest] }
  }
  const [first, ...rest] = validateWorkflow(parsed.data, plugins)
  return first ? { definition: null, issues: [first, ...rest] } : { definition: parsed.data, issues: [] }
}

/** A refusal that names the first broken rule and lists them all (the first hundred). */
export function workflowRefusal(issues: readonly [WorkflowIssue, ...WorkflowIssue[]]): Refusal {
  const [{ rule, path, message }] = issues
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  return {
    code: 'workflow_invalid',
    message: `${message}${more}`,
    details: { rule, path, issues: issues.slice(0, 100) },
  }
}

function schemaIssue(path: string, message: string): WorkflowIssue {
  return { rule: 'schema', path, message: path === '' ? message : `${path}: ${message}` }
}

function broken(path: string, message: string): ReadDefinition {
  return { definition: null, issues: [schemaIssue(path, message)] }
}

/** `blocking` belongs to `before_work` alone; the schema would drop it in silence and the person would rely on it. */
function findBlocking(value: unknown): WorkflowIssue | null {
  for (const [index, state] of entriesOf(fieldOf(value, 'states'))) {
    for (const [phase, hooks] of entriesOf(fieldOf(state, 'hooks'))) {
      for (const [at, hook] of entriesOf(hooks)) {
        if (fieldOf(hook, 'blocking') === undefined) continue
        return schemaIssue(
          `states.${index}.hooks.${phase}.${at}.blocking`,
          'blocking is valid only on before_work. Leave it out; at before_exit a script that fails blocks anyway.',
        )
      }
    }
  }
  return null
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Readonly<Record<string, unknown>>)[name]
}

/**
 * What is wrong with the mere size of a value, or null. It walks without recursion and stops at the
 * limit, also where one object is referred to many times (YAML) or contains itself.
 */
function isTooMuch(value: unknown): string | null {
  let length = 0
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }]
  for (let next = open.pop(); next; next = open.pop()) {
    if (next.depth > maxDepth) return `The workflow is nested more than ${maxDepth} levels deep.`
    length += typeof next.value === 'string' ? next.value.length + 2 : 2
    if (typeof next.value === 'object' && next.value !== null) {
      for (const [key, inner] of Object.entries(next.value)) {
        length += key.length
        open.push({ value: inner, depth: next.depth + 1 })
      }
    }
    if (length > maxDefinitionLength) return `The workflow is longer than ${maxDefinitionLength} characters.`
  }
  return null
}
