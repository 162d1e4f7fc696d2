import { z } from 'zod'
import { errorStatus, type ErrorCode, errorCodes } from './errors.ts'
import { eventPayloads } from './events.ts'
import { TranscriptEntry } from './executions.ts'
import { pathParameters } from './path-parameters.ts'
import type { CallerRule, OperationSpec } from './operation.ts'
import { operations, streams } from './operations.ts'

/** The body of every unsuccessful response in the API's description. `message` says what to do next. */
const ErrorBody = z
  .object({
    error: z.object({
      code: z.enum(errorCodes),
      message: z.string(),
      details: z.record(z.string(), z.unknown()).optional(),
    }),
  })
  .meta({ id: 'Error' })

type Json = Record<string, unknown>

const prefix = '/api/v1'

/** Refusals that follow from the caller rule. */
const refusalsByRule: Readonly<Record<CallerRule, readonly ErrorCode[]>> = {
  public: [],
  anyone: [],
  human: ['humans_only'],
  jwt: ['humans_only', 'jwt_required'],
  admin: ['humans_only', 'admin_required'],
  admin_jwt: ['humans_only', 'admin_required', 'jwt_required'],
  member: ['not_a_member'],
  task_worker: ['not_a_member', 'forbidden'],
  member_human: ['not_a_member', 'humans_only'],
  owner: ['not_a_member', 'owner_required', 'humans_only'],
  daemon: ['daemon_token_required', 'forbidden'],
}

/** Creates the OpenAPI 3.1 document of all operations and streams of the contract. */
export function createOpenApi(version: string): Json {
  const components: Json = {}
  const paths: Record<string, Json> = {
    '/healthz': { get: plain('healthz', 'Whether the service is up.', healthSchema) },
    '/openapi.json': { get: plain('openapi', 'This document.', { type: 'object' }) },
    [`${prefix}/mcp`]: { post: mcpOperation(components) },
    '/hooks/{integration_id}': { post: webhookOperation(components) },
  }
  const add = (path: string, method: string, operation: Json) => {
    paths[prefix + path] = { ...paths[prefix + path], [method]: operation }
  }
  for (const [name, spec] of Object.entries<OperationSpec>(operations)) {
    add(spec.path, spec.method.toLowerCase(), describeOperation(name, spec, components))
  }
  for (const [name, spec] of Object.entries(streams)) add(spec.path, 'get', describeStream(name, spec, components))
  components['EventPayloads'] = schemaOf(z.object(eventPayloads), 'output', components)
  schemaOf(TranscriptEntry, 'output', components)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Copse',
      version,
      description: 'A board of tasks for one developer and many coding agents.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    paths,
    components: {
      schemas: sorted(components),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An access token, a personal access token (`svc_…`) or the token of an execution; a daemon reports with its own (`svcd_…`).',
        },
      },
    },
  }
}

const healthSchema = {
  type: 'object',
  properties: { status: { const: 'ok' }, version: { type: 'string' } },
  required: ['status', 'version'],
}

function plain(operationId: string, summary: string, schema: Json): Json {
  return { operationId, summary, tags: ['service'], security: [], responses: { 200: json('Success.', schema) } }
}

function mcpOperation(components: Json): Json {
  return {
    operationId: 'mcp',
    summary: 'The Model Context Protocol over Streamable HTTP; the token may also come as `?token=`.',
    tags: ['mcp'],
    parameters: [{ name: 'token', in: 'query', required: false, schema: { type: 'string' } }],
    requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
    responses: { 200: json('A JSON-RPC answer.', { type: 'object' }), ...errorResponses(tokenRefusals, components) },
  }
}

function webhookOperation(components: Json): Json {
  return {
    operationId: 'webhook',
    summary: "Brings the next poll of a project's pull requests forward.",
    description:
      'For the webhooks of a forge, signed with the secret that `webhook_secret_ref` names: `X-Hub-Signature-256`, ' +
      '`X-Gitea-Signature`, `webhook-signature` or `X-Gitlab-Token`. The body is not read.',
    tags: ['service'],
    security: [],
    parameters: [{ name: 'integration_id', in: 'path', required: true, schema: { type: 'string' } }],
    requestBody: { required: false, content: { 'application/json': { schema: {} }, '*/*': { schema: {} } } },
    responses: { 202: { description: 'Done.' }, ...errorResponses(['invalid_token', 'payload_too_large'], components) },
  }
}

function describeOperation(name: string, spec: OperationSpec, components: Json): Json {
  const hasBody = spec.method !== 'GET' && spec.method !== 'DELETE'
  const { parameters, body } = describeInput(spec, hasBody, components)
  const refusals: ErrorCode[] = [
    ...(spec.who === 'public' ? [] : tokenRefusals),
    ...refusalsByRule[spec.who],
    ...(parameters.length > 0 || body ? (['validation_failed'] as const) : []),
    ...(body ? (['invalid_json', 'payload_too_large', 'unsupported_media_type'] as const) : []),
    ...(pathParameters(spec.path).length > 0 ? (['not_found'] as const) : []),
    ...spec.errors,
  ]
  return {
    operationId: name,
    summary: spec.summary,
    description: `Allowed for: ${spec.who}.`,
    tags: [tagOf(name)],
    ...(spec.who === 'public' && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: body }),
    responses: {
      [spec.status]: describeSuccess(spec, components),
      ...(spec.unchanged && { 200: describeSuccess(spec, components) }),
      ...errorResponses(refusals, components),
    },
  }
}

function describeStream(name: string, spec: (typeof streams)[keyof typeof streams], components: Json): Json {
  const { parameters } = describeInput(spec, false, components)
  const lastEventId = {
    name: 'Last-Event-ID',
    in: 'header',
    required: false,
    description: 'The `id:` of the last event that arrived.',
    schema: { type: 'integer', minimum: 0 },
  }
  const refusals: ErrorCode[] = [...tokenRefusals, ...refusalsByRule[spec.who], 'validation_failed', 'not_found']
  return {
    operationId: name,
    summary: spec.summary,
    description: streamDescriptions[name as keyof typeof streams],
    tags: [tagOf(name)],
    parameters: [...parameters, lastEventId],
    responses: {
      200: { description: 'Server-sent events.', content: { 'text/event-stream': { schema: { type: 'string' } } } },
      ...errorResponses(refusals, components),
    },
  }
}

const streamDescriptions: Readonly<Record<keyof typeof streams, string>> = {
  'events.stream':
    '`id:` is a growing number, `event:` a key of the schema EventPayloads and `data:` its payload as JSON. ' +
    'The stream starts with an `id:` alone: a client that is cut off before the first event resumes after it. ' +
    '`stream.reset` says that the past that was asked for is gone; `execution.activity`, `hook.activity` and `worktree.changed` have no id and are not kept.',
  'executions.stream': '`event: entry` with the line number as `id:` and a TranscriptEntry, and `event: end` at last.',
}

const tokenRefusals = ['missing_token', 'invalid_token', 'token_expired'] as const

const tagOf = (name: string) => name.split('.', 1)[0] ?? name

function describeInput(spec: Pick<OperationSpec, 'path' | 'input' | 'query'>, hasBody: boolean, components: Json) {
  const schema = schemaOf(spec.input, 'input', components)
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Json>)
  const required = new Set((schema['required'] ?? []) as string[])
  const inPath = new Set(pathParameters(spec.path))
  const inBody = hasBody ? properties.filter(([key]) => !inPath.has(key)) : []
  const parameters = properties
    .filter(([key]) => inPath.has(key) || !hasBody || spec.query?.includes(key))
    .map(([key, { description, ...rest }]) => ({
      name: key,
      in: inPath.has(key) ? 'path' : 'query',
      required: inPath.has(key) || required.has(key),
      ...(description !== undefined && { description }),
      schema: rest,
    }))
  const needed = inBody.map(([key]) => key).filter((key) => required.has(key))
  const bodySchema = {
    type: 'object',
    properties: Object.fromEntries(inBody),
    ...(needed.length > 0 && { required: needed }),
  }
  const body = inBody.length > 0 && {
    required: needed.length > 0,
    content: { 'application/json': { schema: bodySchema } },
  }
  return { parameters, body: body || null }
}

function describeSuccess(spec: OperationSpec, components: Json): Json {
  if (spec.status === 204) return { description: 'Done.' }
  if (spec.responds === 'json') return json('Success.', schemaOf(spec.output, 'output', components))
  if (spec.responds === 'file') {
    const schema = { type: 'string', format: 'binary' }
    return {
      description: 'The file, with its type; `Content-Disposition` has its name.',
      content: { '*/*': { schema } },
    }
  }
  return {
    description: 'The bytes.',
    headers: {
      'X-Next-Offset': { description: 'Where the next piece starts.', schema: { type: 'integer' } },
      'X-Complete': { description: 'Whether nothing more will come.', schema: { type: 'boolean' } },
    },
    content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
  }
}

function errorResponses(codes: readonly ErrorCode[], components: Json): Json {
  const schema = schemaOf(ErrorBody, 'output', components)
  const statuses = [...new Set(codes.map((code) => errorStatus[code]))]
  const codesOf = (status: number) => [...new Set(codes)].filter((code) => errorStatus[code] === status)
  return Object.fromEntries(statuses.map((status) => [status, json(codesOf(status).join(', '), schema)]))
}

const json = (description: string, schema: Json): Json => ({
  description,
  content: { 'application/json': { schema } },
})

/** Returns the schema with all named schemas moved to `components`. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', components: Json): Json {
  // Wrapped in an object, so that a named schema is moved too.
  const whole: Json = { ...z.toJSONSchema(z.object({ value: schema }), { io, override: allowMore }) }
  const named = (whole['$defs'] ?? {}) as Record<string, Json>
  for (const [name, { id: _, ...definition }] of Object.entries(named)) {
    components[name] ??= withComponentReferences(definition)
  }
  return withComponentReferences((whole['properties'] as { value: Json }).value)
}

/** A later version may add fields to responses, so clients must accept unknown ones. */
function allowMore({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
}

function withComponentReferences(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json
}

const sorted = (record: Json): Json =>
  Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)))
