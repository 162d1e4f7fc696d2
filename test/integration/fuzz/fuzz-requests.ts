import type { SeededRandom } from '../../helpers/seeded-random.ts'

type Schema = Readonly<Record<string, unknown>>

/** One operation of the OpenAPI document. */
export interface Target {
  readonly method: string
  readonly path: string
  readonly id: string
  readonly query: readonly (readonly [name: string, schema: Schema])[]
  readonly body: Schema | null
}

export interface FuzzRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | null
}

interface Described {
  readonly operationId: string
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

/** Every operation of the document. */
export function targetsOf(document: Readonly<Record<string, unknown>>): Target[] {
  const paths = document['paths'] as Readonly<Record<string, Readonly<Record<string, Described>>>>
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      id: operation.operationId,
      query: (operation.parameters ?? []).filter((one) => one.in === 'query').map((one) => [one.name, one.schema]),
      body: operation.requestBody?.content['application/json']?.schema ?? null,
    })),
  )
}

const texts = [
  '',
  'x',
  'é🌳',
  'a\u0000b',
  '\ud800',
  '\u202e',
  '../../x',
  '/',
  '-1',
  '__proto__',
  'constructor',
  '%00',
  "';--",
  'x'.repeat(70_000),
]
const odd = [null, true, -1, 0, 1e308, 2 ** 53, 0.1, [], {}, [[]], { a: { b: [] } }, '', 'x']
const deep = '['.repeat(100_000)

/** Creates requests about existing records (`ids`) with these tokens, most of them wrong in some way. */
export function createFuzz(
  random: SeededRandom,
  components: Readonly<Record<string, Schema>>,
  world: { readonly ids: Readonly<Record<string, string>>; readonly tokens: readonly string[] },
): (target: Target) => FuzzRequest {
  const anyId = Object.values(world.ids)
  /** Usually a value that fits the name, so that the request comes far. */
  const idFor = (name: string) => (random.chance(0.9) ? world.ids[name] : undefined) ?? random.pick(anyId)
  const value = (schema: Schema, depth: number, name = ''): unknown => {
    if (random.chance(0.12)) return random.pick(odd)
    if (typeof schema['$ref'] === 'string')
      return value(components[schema['$ref'].split('/').at(-1) ?? ''] ?? {}, depth)
    const choices = (schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf']) as Schema[] | undefined
    if (choices) return value(random.pick(choices), depth, name)
    if (Array.isArray(schema['enum'])) return random.pick(schema['enum'])
    if ('const' in schema) return schema['const']
    switch (schema['type']) {
      case 'string':
        return text(schema, name)
      case 'integer':
      case 'number':
        return Math.floor(random.between(-3, 40))
      case 'boolean':
        return random.chance(0.5)
      case 'array':
        return depth > 4
          ? []
          : Array.from({ length: random.pick([0, 1, 2]) }, () => value(schema['items'] as Schema, depth + 1))
      case 'object':
        return object(schema, depth)
      default:
        return random.pick(odd)
    }
  }
  const text = (schema: Schema, name: string): string => {
    if (schema['format'] === 'uuid' && random.chance(0.9)) return idFor(name)
    if (schema['format'] === 'email' && random.chance(0.5)) return 'fuzz@copse.test'
    return random.chance(0.5) ? 'x' : random.pick(texts)
  }
  const object = (schema: Schema, depth: number): unknown => {
    const properties = Object.entries((schema?.['properties'] ?? {}) as Record<string, Schema>)
    const required = new Set((schema?.['required'] ?? []) as string[])
    const kept = properties.filter(([key]) => random.chance(required.has(key) ? 0.95 : 0.4))
    return Object.fromEntries(kept.map(([key, one]) => [key, depth > 6 ? null : value(one, depth + 1, key)]))
  }
  const body = (schema: Schema): Buffer => {
    const json = JSON.stringify(object(schema, 0))
    const kind = random.between(0, 1)
    if (kind < 0.75) return Buffer.from(json)
    if (kind < 0.8) return Buffer.from(json.slice(0, Math.floor(json.length / 2)))
    if (kind < 0.84) return Buffer.from(`{"a":1,${json.slice(1, -1) || '"b":2'},"a":2}`)
    if (kind < 0.88) return Buffer.concat([Buffer.from(json), Buffer.of(0xff, 0xfe, 0xc3, 0x28)])
    if (kind < 0.92) return Buffer.from(JSON.stringify(random.pick(odd)))
    if (kind < 0.96) return Buffer.from(`{"a":${random.chance(0.5) ? deep : '{"__proto__":{"x":1}}'}}`)
    return random.chance(0.3) ? Buffer.alloc(6 * 1024 * 1024, 0x20) : Buffer.alloc(0)
  }
  const headers = (hasBody: boolean): Record<string, string> => {
    const token = random.pick([...world.tokens, ...world.tokens, ...wrongTokens])
    const type = random.chance(0.93) ? 'application/json' : random.pick(types)
    return {
      ...(token !== '' && { authorization: random.chance(0.97) ? `Bearer ${token}` : token }),
      ...(hasBody && { 'content-type': type }),
      ...(random.chance(0.05) && { 'last-event-id': random.pick(['-1', '1e3', '99999999999999999999', 'x', '0']) }),
      ...(random.chance(0.03) && { accept: 'text/event-stream' }),
      ...(random.chance(0.02) && { origin: 'https://evil.example' }),
      ...(random.chance(0.02) && { 'x-forwarded-for': '"><script>', forwarded: 'for=unknown' }),
      ...(random.chance(0.02) && { cookie: 'x'.repeat(4_000) }),
    }
  }
  return (target) => {
    const path = target.path.replace(/\{(\w+)\}/g, (_all, name: string) =>
      random.chance(0.9) ? idFor(name) : encodeURIComponent(wellFormed(random.pick(texts)).slice(0, 600)),
    )
    const query = target.query
      .filter(() => random.chance(0.4))
      .map(([name, schema]) => `${name}=${encodeURIComponent(wellFormed(String(value(schema, 3))).slice(0, 4_000))}`)
    if (random.chance(0.03))
      query.push(random.pick(['%', '__proto__=1', 'limit=1&limit=2', 'a[b]=1', '\u00e9='].map(encodeURI)))
    const hasBody = target.body !== null ? random.chance(0.97) : random.chance(0.05)
    return {
      method: random.chance(0.98) ? target.method : random.pick(['PUT', 'PATCH', 'OPTIONS', 'HEAD', 'TRACE']),
      path: query.length > 0 ? `${path}?${query.join('&')}` : path,
      headers: headers(hasBody),
      body: hasBody ? body(target.body ?? {}) : null,
    }
  }
}

const wrongTokens = ['', 'x', `svc_${'x'.repeat(43)}`, 'a.b.c', 'eyJhbGciOiJub25lIn0.e30.', 'Bearer', 'x'.repeat(8_000)]
const types = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/json; charset=utf-16',
  'multipart/form-data',
  ';;',
]

/** Text that an address can carry: lone surrogates can't be encoded. */
const wellFormed = (value: string) => value.toWellFormed()
