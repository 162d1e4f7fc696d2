import { isScalar, parseDocument, stringify, visit, type Document } from 'yaml'
import type { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import { readDefinition } from '../domain/workflow/read-definition.ts'
import { withoutRenames } from '../domain/transition/plan-change.ts'
import type { PluginChecks, WorkflowIssue } from '../domain/workflow/validate.ts'

/** Maximum size in bytes; a longer file is not parsed. */
export const maxFileBytes = 1_000_000

/** The content of a template file. Usable when `issues` is empty; only then has it a definition. */
export type TemplateContent =
  | { readonly description: string; readonly definition: WorkflowDefinition; readonly issues: readonly [] }
  | {
      readonly description: string
      readonly definition: null
      readonly issues: readonly [WorkflowIssue, ...WorkflowIssue[]]
    }

/** Parses a template: YAML with a definition's keys and a `description`. Never throws for the text's content. */
export function parseTemplate(text: string, plugins: PluginChecks): TemplateContent {
  if (isTooDeep(text)) return brokenTemplate(tooDeep)
  let value: unknown
  try {
    // The parser's own check for duplicate keys takes quadratic time.
    const document = parseDocument(text, { logLevel: 'error', uniqueKeys: false })
    const [error] = document.errors
    if (error?.code === 'RESOURCE_EXHAUSTION') return brokenTemplate(tooDeep)
    if (error?.code === 'MULTIPLE_DOCS') return brokenTemplate('The file holds more than one document.')
    if (error) return brokenTemplate(`The file isn't valid YAML: ${error.message}`)
    const twice = findRepeatedKey(document)
    if (twice !== null) return brokenTemplate(`The file has the key ${twice} twice in one place.`)
    // Refuses aliases that multiply. The length limit covers aliases that only lengthen the text.
    value = document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    if (error instanceof RangeError) return brokenTemplate(tooDeep)
    return brokenTemplate(`The file isn't valid YAML: ${error instanceof Error ? error.message : 'it can’t be read'}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return brokenTemplate('The file holds no workflow: give it the keys description, roles and states.')
  }
  const { description = '', ...rest } = value as Readonly<Record<string, unknown>>
  if (typeof description !== 'string') return brokenTemplate('description: Enter text.', 'description')
  const read = readDefinition(rest, plugins)
  if (!read.definition) return { description, ...read }
  // A template belongs to no project, so it has no renames.
  return { description, definition: withoutRenames(read.definition), issues: [] }
}

const tooDeep = 'The file is nested too deeply.'

/** Counts unclosed brackets, because the parser takes seconds to reject a file of nothing else. */
function isTooDeep(text: string): boolean {
  let depth = 0
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1
    if (depth > 500) return true
  }
  return false
}

function findRepeatedKey(document: Document): string | null {
  let repeated: string | null = null
  visit(document, {
    Map: (_key, map) => {
      const seen = new Set<unknown>()
      for (const { key } of map.items) {
        const name: unknown = isScalar(key) ? key.value : key
        if (!seen.has(name)) seen.add(name)
        else repeated = String(name)
      }
      return repeated === null ? undefined : visit.BREAK
    },
  })
  return repeated
}

/** Returns a template without a definition and with this issue. */
export function brokenTemplate(message: string, path = ''): TemplateContent {
  return { description: '', definition: null, issues: [{ rule: 'schema', path, message }] }
}

/** Formats a template in the form that `parseTemplate` reads. */
export function formatTemplate(description: string, definition: WorkflowDefinition): string {
  return stringify({ description, ...definition }, { aliasDuplicateObjects: false, lineWidth: 120 })
}
