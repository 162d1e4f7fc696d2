import { z } from 'zod'
import { parseJson } from '../../src-shared/lang/parse-json.ts'

/** As much of a JSON-RPC message as decides how it travels. */
const Message = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.looseObject({ _meta: z.looseObject({}).optional() }).optional(),
  result: z.unknown().optional(),
})
export type McpMessage = z.infer<typeof Message>

const versionKey = 'io.modelcontextprotocol/protocolVersion'

/** null for what is no message, or more than one. */
export function parseMessage(line: string): McpMessage | null {
  return Message.safeParse(parseJson(line)).data ?? null
}

/** Whether a client of the newer protocol sends it, which says its version in each request. */
export function saysItsVersion({ params }: Pick<McpMessage, 'params'>): boolean {
  return typeof params?._meta?.[versionKey] === 'string'
}

/** Which parameter of a method its `Mcp-Name` header repeats. */
const nameParameters: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

/**
 * The headers that go with a message over HTTP. A client of the newer protocol says its version in each message;
 * for an older one it is what its handshake has agreed on.
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

/** What is no plain ASCII goes as Base64, marked as the protocol wants it. */
function headerValue(text: string): string {
  const isPlain = /^[\t\x20-\x7e]+$/.test(text) && text === text.trim() && !/^=\?base64\?.*\?=$/.test(text)
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`
}

/** The version that an answer to `initialize` has agreed on; null for any other message. */
export function agreedVersionIn({ result }: McpMessage): string | null {
  const parsed = z.looseObject({ protocolVersion: z.string() }).safeParse(result)
  return parsed.success ? parsed.data.protocolVersion : null
}
