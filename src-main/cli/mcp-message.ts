import { z } from 'zod'
import { parseJson } from '../../src-shared/lang/parse-json.ts'

/** The parts of a JSON-RPC message that decide how it is sent. */
const Message = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.looseObject({ _meta: z.looseObject({}).optional() }).optional(),
  result: z.unknown().optional(),
})
export type McpMessage = z.infer<typeof Message>

const versionKey = 'io.modelcontextprotocol/protocolVersion'

/** Returns null unless the line is exactly one message. */
export function parseMessage(line: string): McpMessage | null {
  return Message.safeParse(parseJson(line)).data ?? null
}

/** Returns whether the client speaks the newer protocol, which states its version in each request. */
export function hasProtocolVersion({ params }: Pick<McpMessage, 'params'>): boolean {
  return typeof params?._meta?.[versionKey] === 'string'
}

/** The parameter of each method that the `Mcp-Name` header repeats. */
const nameParameters: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

/**
 * Returns the HTTP headers of a message. The newer protocol states its version in each message; an older one uses the
 * version that the handshake agreed on.
 */
export function headersOf(
  { method, params }: Pick<McpMessage, 'method' | 'params'>,
  agreedVersion: string | null,
): Record<string, string> {
  const version = params?._meta?.[versionKey]
  if (typeof version !== 'string' || method === undefined) {
    return agreedVersion === null ? {} : { 'mcp-protocol-version': agreedVersion }
  }
  const parameter = Object.hasOwn(nameParameters, method) ? nameParameters[method] : undefined
  const name = parameter === undefined ? undefined : params?.[parameter]
  return {
    'mcp-protocol-version': version,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': headerValue(name) }),
  }
}

/** Encodes anything but plain ASCII as Base64 with the protocol's marker. */
function headerValue(text: string): string {
  const isPlain = /^[\t\x20-\x7e]+$/.test(text) && text === text.trim() && !/^=\?base64\?.*\?=$/.test(text)
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`
}

/** Returns the version that an answer to `initialize` agreed on; null for any other message. */
export function agreedVersionIn({ result }: McpMessage): string | null {
  const parsed = z.looseObject({ protocolVersion: z.string() }).safeParse(result)
  return parsed.success ? parsed.data.protocolVersion : null
}
