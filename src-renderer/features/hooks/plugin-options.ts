import type { PluginInfo } from '../../../src-shared/contract/lifecycle-hooks.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'

/** A simple plugin option with its own input. */
export interface OptionField {
  readonly name: string
  readonly kind: 'text' | 'number' | 'switch' | 'choice'
  readonly about: string | null
  readonly required: boolean
  readonly choices: readonly string[]
  readonly min: number | null
  readonly max: number | null
  readonly whole: boolean
  /** The default value. */
  readonly fallback: unknown
}

type Schema = Readonly<Record<string, unknown>>

/** Returns the options with an input, from the JSON Schema of the plugin's `config`. */
export function optionFields(options: Schema): OptionField[] {
  const required = Array.isArray(options['required']) ? options['required'] : []
  return Object.entries(properties(options)).flatMap(([name, schema]) => {
    const field = fieldOf(name, schema, required.includes(name))
    return field ? [field] : []
  })
}

/** Returns whether the plugin has options without an input, which are edited as JSON. */
export function hasOtherOptions(options: Schema): boolean {
  const fields = optionFields(options).length
  return Object.keys(properties(options)).length > fields || isOpen(options)
}

function isOpen(options: Schema): boolean {
  const extra = options['additionalProperties']
  return extra === true || isSchema(extra)
}

function fieldOf(name: string, schema: unknown, required: boolean): OptionField | null {
  if (!isSchema(schema)) return null
  const kind = kindOf(schema)
  if (kind === null) return null
  return {
    name,
    kind,
    about: typeof schema['description'] === 'string' ? schema['description'] : null,
    required: required && schema['default'] === undefined,
    choices: kind === 'choice' ? choicesOf(schema) : [],
    min: bound(schema['minimum']),
    max: bound(schema['maximum']),
    whole: schema['type'] === 'integer',
    fallback: schema['default'],
  }
}

function kindOf(schema: Schema): OptionField['kind'] | null {
  if (schema['type'] === 'boolean') return 'switch'
  if (schema['type'] === 'integer' || schema['type'] === 'number') return 'number'
  if (schema['type'] !== 'string') return null
  return choicesOf(schema).length > 0 ? 'choice' : 'text'
}

function choicesOf(schema: Schema): string[] {
  const listed = schema['enum']
  return Array.isArray(listed) ? listed.filter((value): value is string => typeof value === 'string') : []
}

/** Returns the bound of a schema; null for the largest safe integer, which means unbounded. */
function bound(value: unknown): number | null {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : null
}

function properties(options: Schema): Schema {
  const known = options['properties']
  return isSchema(known) ? known : {}
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the options without an input, which are edited as JSON. */
export function otherOptions(config: Schema, fields: readonly OptionField[]): Record<string, unknown> {
  const shown = new Set(fields.map((field) => field.name))
  return Object.fromEntries(Object.entries(config).filter(([name]) => !shown.has(name)))
}

/**
 * Returns the options with those without an input replaced by the JSON text; null if it isn't an
 * object.
 */
export function withOtherOptions(
  config: Schema,
  fields: readonly OptionField[],
  json: string,
): Record<string, unknown> | null {
  const other = parseObject(json)
  if (other === null) return null
  const shown = fields.flatMap(({ name }) => (name in config ? [[name, config[name]] as const] : []))
  return { ...other, ...Object.fromEntries(shown) }
}

export function parseObject(json: string): Record<string, unknown> | null {
  if (json.trim() === '') return {}
  const value = parseJson(json)
  return isSchema(value) ? { ...value } : null
}

/** Returns the options with `name` set, or removed if `value` is undefined. */
export function withOption(config: Schema, name: string, value: unknown): Record<string, unknown> {
  const { [name]: _old, ...rest } = config
  return value === undefined || value === '' ? rest : { ...rest, [name]: value }
}

/** Returns the error of an option's value as a sentence, or null. */
export function optionProblem(field: OptionField, value: unknown): string | null {
  if (value === undefined) return field.required ? 'Required.' : null
  if (field.kind === 'choice')
    return typeof value === 'string' && field.choices.includes(value) ? null : `One of: ${field.choices.join(', ')}.`
  if (field.kind !== 'number') return null
  const right =
    typeof value === 'number' &&
    (!field.whole || Number.isInteger(value)) &&
    value >= (field.min ?? -Infinity) &&
    value <= (field.max ?? Infinity)
  return right ? null : `${field.whole ? 'A whole number' : 'A number'}${rangeWords(field)}.`
}

function rangeWords({ min, max }: OptionField): string {
  if (min !== null && max !== null) return ` from ${min} to ${max}`
  if (min !== null) return `, ${min} or more`
  return max === null ? '' : `, ${max} or less`
}

/** Returns the plugin of this name; undefined if there is none or the list isn't loaded. */
export function pluginNamed(plugins: readonly PluginInfo[] | null, name: string): PluginInfo | undefined {
  return plugins?.find((plugin) => plugin.name === name)
}
