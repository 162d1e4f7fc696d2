import { distance } from 'fastest-levenshtein'
import { z } from 'zod'

/** A key of a value that its schema does not know. */
export interface UnknownKey {
  /** The path from the root, with dots. */
  readonly path: string
  readonly key: string
  /** The known key that it most likely stands for; null if none is similar. */
  readonly nearest: string | null
}

/** Returns every key of a value, at any depth, that its schema would drop. A value of another type has none. */
export function findUnknownKeys(schema: z.core.$ZodType, value: unknown, path: readonly string[] = []): UnknownKey[] {
  const inner = unwrap(schema)
  if (inner instanceof z.ZodArray) {
    return Array.isArray(value)
      ? value.flatMap((item, index) => findUnknownKeys(inner.element, item, [...path, String(index)]))
      : []
  }
  if (inner instanceof z.ZodUnion) {
    const option = inner.options.find((one) => z.safeParse(one, value).success)
    return option ? findUnknownKeys(option, value, path) : []
  }
  if (typeof value !== 'object' || value === null) return []
  if (inner instanceof z.ZodRecord) {
    return Object.entries(value).flatMap(([key, item]) => findUnknownKeys(inner.valueType, item, [...path, key]))
  }
  if (!(inner instanceof z.ZodObject)) return []
  const shape: Readonly<Record<string, z.core.$ZodType>> = inner.shape
  return Object.entries(value).flatMap(([key, item]) => {
    const known = Object.hasOwn(shape, key) ? shape[key] : undefined
    if (known) return findUnknownKeys(known, item, [...path, key])
    return [{ path: [...path, key].join('.'), key, nearest: nearestOf(key, Object.keys(shape)) }]
  })
}

/** Returns the known key that a misspelt one stands for; null if none is similar. `path` is the key's location. */
export function nearestKey(schema: z.core.$ZodType, path: readonly PropertyKey[], key: string): string | null {
  let current = unwrap(schema)
  for (const step of path) {
    if (current instanceof z.ZodArray) current = unwrap(current.element)
    else if (current instanceof z.ZodRecord) current = unwrap(current.valueType)
    else if (current instanceof z.ZodObject) {
      const next: unknown = Reflect.get(current.shape, step)
      if (!(next instanceof z.core.$ZodType)) return null
      current = unwrap(next)
    } else return null
  }
  return current instanceof z.ZodObject ? nearestOf(key, Object.keys(current.shape)) : null
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  let current = schema
  while (
    current instanceof z.ZodOptional ||
    current instanceof z.ZodNullable ||
    current instanceof z.ZodDefault ||
    current instanceof z.ZodReadonly
  ) {
    current = current.def.innerType
  }
  return current
}

/** A third of the letters may differ, as in a typing error; more is another word. */
function nearestOf(key: string, known: readonly string[]): string | null {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  const near = known
    .map((name) => ({ name, steps: distance(plain(key), plain(name)) }))
    .filter(({ name, steps }) => steps <= Math.ceil(name.length / 3))
    .toSorted((a, b) => a.steps - b.steps)
  return near[0]?.name ?? null
}
