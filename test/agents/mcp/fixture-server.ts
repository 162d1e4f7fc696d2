import { completable, fromJsonSchema, McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import type { CallToolResult, ContentBlock, GetPromptResult, ServerContext } from '@modelcontextprotocol/server'
import { z } from 'zod'

/** A pixel, as PNG. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const image: ContentBlock = { type: 'image', data: png, mimeType: 'image/png' }
const audio: ContentBlock = {
  type: 'audio',
  data: 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=',
  mimeType: 'audio/wav',
}
const text = (words: string): ContentBlock => ({ type: 'text', text: words })
const embedded = (uri: string, mimeType: string, words: string): ContentBlock => ({
  type: 'resource',
  resource: { uri, mimeType, text: words },
})

const answers: Readonly<Record<string, CallToolResult>> = {
  test_simple_text: { content: [text('This is a simple text response for testing.')] },
  test_image_content: { content: [image] },
  test_audio_content: { content: [audio] },
  test_embedded_resource: {
    content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  },
  test_multiple_content_types: {
    content: [
      text('Multiple content types test:'),
      image,
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  },
  test_error_handling: { isError: true, content: [text('This tool intentionally returns an error for testing')] },
}

/** What the conformance suite asks for by name; only a test server may offer it. */
export function createFixtureServer(): McpServer {
  const server = new McpServer({ name: 'copse-fixtures', version: '0' }, { capabilities: { logging: {} } })
  for (const [name, answer] of Object.entries(answers)) server.registerTool(name, { description: name }, () => answer)
  addTalkingTools(server)
  addResources(server)
  addPrompts(server)
  return server
}

function addTalkingTools(server: McpServer): void {
  server.registerTool('test_tool_with_logging', { description: 'Logs' }, async (context: ServerContext) => {
    for (const words of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await context.mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data: words } })
    }
    return { content: [text('Logged.')] }
  })
  server.registerTool('test_tool_with_progress', { description: 'Progresses' }, async (context: ServerContext) => {
    const progressToken = context.mcpReq._meta?.progressToken
    for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
      const params = { progressToken: progressToken ?? 0, progress, total: 100 }
      await context.mcpReq.notify({ method: 'notifications/progress', params })
    }
    return { content: [text('Progressed.')] }
  })
  const address = { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } as const
  const inputSchema = fromJsonSchema({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { address },
    properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
    additionalProperties: false,
  })
  server.registerTool('json_schema_2020_12_tool', { description: 'Has a schema', inputSchema }, () => ({
    content: [text('Fitted.')],
  }))
}

function addResources(server: McpServer): void {
  server.registerResource(
    'text',
    'test://static-text',
    { description: 'Text', mimeType: 'text/plain' },
    ({ href }) => ({
      contents: [{ uri: href, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
    }),
  )
  server.registerResource('png', 'test://static-binary', { description: 'PNG', mimeType: 'image/png' }, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'image/png', blob: png }],
  }))
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined })
  server.registerResource('data', template, { description: 'Data' }, ({ href }, { id }) => ({
    contents: [
      {
        uri: href,
        mimeType: 'application/json',
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
      },
    ],
  }))
}

function addPrompts(server: McpServer): void {
  const said = (...blocks: readonly ContentBlock[]): GetPromptResult => ({
    messages: blocks.map((content) => ({ role: 'user', content })),
  })
  server.registerPrompt('test_simple_prompt', { description: 'Simple' }, () =>
    said(text('This is a simple prompt for testing.')),
  )
  const arg1 = completable(z.string().describe('First test argument'), (begun) =>
    ['paris', 'park', 'party'].filter((one) => one.startsWith(begun)),
  )
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'With arguments',
      argsSchema: z.object({ arg1, arg2: z.string().describe('Second test argument') }),
    },
    ({ arg1: first, arg2 }) => said(text(`Prompt with arguments: arg1='${first}', arg2='${arg2}'`)),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'With a resource', argsSchema: z.object({ resourceUri: z.string().describe('URI to embed') }) },
    ({ resourceUri }) =>
      said(
        embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
        text('Please process the embedded resource above.'),
      ),
  )
  server.registerPrompt('test_prompt_with_image', { description: 'With an image' }, () =>
    said(image, text('Please analyze the image above.')),
  )
}
