import { z } from 'zod'
import { validationFailed } from './refusals.ts'

type Values = Readonly<Record<string, unknown>>

/** Converts query texts to the types of the schema; values that don't fit stay for validation to refuse. */
export type QueryReader = (query: Values) => Values

interface PropertySchema {
  readonly type?: string
  readonly anyOf?: readonly PropertySchema[]
}

/** Creates the reader for this input; types are looked up at the first query with values. */
export function createQueryReader(input: z.ZodObject): QueryReader {
  let types: ReadonlyMap<string, readonly string[]> | undefined
  return (query) => {
    const entries = Object.entries(query)
    if (entries.length === 0) return {}
    const known = (types ??= typesIn(input))
    return Object.fromEntries(entries.map(([key, value]) => [key, coerce(value, known.get(key) ?? [])]))
  }
}

function typesIn(input: z.ZodObject): ReadonlyMap<string, readonly string[]> {
  const { properties = {} } = z.toJSONSchema(input, { io: 'input' }) as { properties?: Record<string, PropertySchema> }
  return new Map(Object.entries(properties).map(([key, schema]) => [key, typesOf(schema)]))
}

const typesOf = (schema: PropertySchema): readonly string[] =>
  schema.anyOf ? schema.anyOf.flatMap(typesOf) : schema.type ? [schema.type] : []

function coerce(value: unknown, types: readonly string[]): unknown {
  if (types.includes('array')) return Array.isArray(value) ? value : [value]
  if (typeof value !== 'string' || types.includes('string')) return value
  if (types.includes('boolean') && (value === 'true' || value === 'false')) return value === 'true'
  const isNumeric = types.includes('integer') || types.includes('number')
  return isNumeric && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value
}

/**
 * Merges a request's values: the body's override the query's, and the path's override both, so that neither can
 * redirect a call to another resource.
 */
export function flatInput(query: Values, body: unknown, parameters: unknown): Values {
  if (body !== undefined && body !== null && (typeof body !== 'object' || Array.isArray(body))) {
    throw validationFailed('body', 'Send a JSON object.')
  }
  return { ...query, ...(body as Values | null | undefined), ...(parameters as Values) }
}
