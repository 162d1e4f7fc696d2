import { parse, stringify } from 'yaml'
import type { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import { readDefinition } from '../domain/workflow/read-definition.ts'
import { withoutRenames } from '../domain/workflow/plan-change.ts'
import type { PluginChecks, WorkflowIssue } from '../domain/workflow/validate.ts'

/** A file longer than this, in bytes, is not even parsed. */
export const maxFileBytes = 1_000_000

/** What a template file says: usable when `issues` is empty, and then only is there a definition. */
export type TemplateContent =
  | { readonly description: string; readonly definition: WorkflowDefinition; readonly issues: readonly [] }
  | {
      readonly description: string
      readonly definition: null
      readonly issues: readonly [WorkflowIssue, ...WorkflowIssue[]]
    }

/** Reads a template: YAML with a definition's keys and a `description`. Never throws for what the text says. */
export function parseTemplate(text: string, plugins: PluginChecks): TemplateContent {
  let value: unknown
  try {
    // Aliases that multiply are refused by the parser; those that merely make it long, by the limit on the length.
    value = parse(text, { logLevel: 'error', maxAliasCount: 100, prettyErrors: true })
  } catch (error) {
    if (error instanceof RangeError) return brokenTemplate('The file is nested too deeply.')
    return brokenTemplate(`The file is no YAML: ${error instanceof Error ? error.message : 'it can not be read'}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return brokenTemplate('The file holds no workflow: give it the keys description, roles and states.')
  }
  const { description = '', ...rest } = value as Readonly<Record<string, unknown>>
  if (typeof description !== 'string') return brokenTemplate('description: Give a text.', 'description')
  const read = readDefinition(rest, plugins)
  if (!read.definition) return { description, ...read }
  // A template speaks of no project, so that there is nothing to rename from.
  return { description, definition: withoutRenames(read.definition), issues: [] }
}

/** A template without a definition, because of this. */
export function brokenTemplate(message: string, path = ''): TemplateContent {
  return { description: '', definition: null, issues: [{ rule: 'schema', path, message }] }
}

/** Writes a template down as `parseTemplate` reads it. */
export function formatTemplate(description: string, definition: WorkflowDefinition): string {
  return stringify({ description, ...definition }, { aliasDuplicateObjects: false, lineWidth: 120 })
}
