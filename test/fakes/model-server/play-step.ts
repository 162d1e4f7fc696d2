import { existsSync } from 'node:fs'
import type { ChosenStep, ModelStep } from './choose-step.ts'
import type { Conversation, ModelToolCall, ModelTurn, OfferedTool, ToolSchema } from './conversation.ts'

const pathKeys = ['file_path', 'filePath', 'filepath', 'path', 'absolute_path']
const textKeys = ['content', 'file_text', 'new_text']
const commandKeys = ['command', 'cmd', 'commands']
/** The agents' names of their own tools for it, without case and punctuation. */
const writers = ['write', 'writefile', 'create', 'editor']
const shells = [
  ...['bash', 'shell', 'execcommand', 'runshellcommand', 'runcommands'],
  ...['executebash', 'executecommand', 'runterminalcommand'],
]

/** Translates a step to the tools that the agent offers. A step that fits none becomes a text that says so. */
export function playStep({ step, lookedUp }: ChosenStep, conversation: Conversation): ModelTurn {
  const { tools } = conversation
  const call =
    step.write !== undefined
      ? writeCall(conversation, step.write)
      : step.shell !== undefined
        ? shellCall(tools, step.shell)
        : step.tool !== undefined
          ? toolCall(conversation, step.tool, lookedUp)
          : 'words'
  if (call === 'words') return { say: step.say ?? '', call: null }
  if (call === null) {
    const names = tools.map((tool) => tool.name).join(', ')
    return { say: `No offered tool fits the step ${JSON.stringify(step)}. Offered: ${names}`, call: null }
  }
  return { say: step.say ?? '', call }
}

type Call = ModelToolCall | null

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
const keyOf = ({ properties = {} }: ToolSchema, keys: readonly string[]): string | undefined =>
  keys.find((key) => Object.hasOwn(properties, key))

function writeCall({ tools, said }: Conversation, file: NonNullable<ModelStep['write']>): Call {
  const patch = tools.find((tool) => tool.kind === 'text' && plain(tool.name) === 'applypatch')
  if (patch) {
    const lines = file.content.replace(/\n$/, '').split('\n')
    const added = lines.map((line) => `+${line}`).join('\n')
    return { tool: patch, input: `*** Begin Patch\n*** Add File: ${file.path}\n${added}\n*** End Patch\n` }
  }
  for (const tool of tools) {
    const path = keyOf(tool.schema, pathKeys)
    const text = keyOf(tool.schema, textKeys)
    if (!writers.includes(plain(tool.name)) || path === undefined || text === undefined) continue
    const wantsAbsolute = /absolute/i.test(tool.schema.properties?.[path]?.description ?? '')
    const folder = wantsAbsolute && !file.path.startsWith('/') ? workingDirectory(said) : undefined
    const place = folder === undefined ? file.path : `${folder}/${file.path}`
    return { tool, input: complete(tool.schema, { [path]: place, [text]: file.content }) }
  }
  return null
}

/** Some agents demand absolute paths; each names its working directory somewhere in the request. */
function workingDirectory(said: string): string | undefined {
  const places = said.matchAll(
    /(?:working directory:|working in the directory:|<cwd>|workspace directories:)[^/]{0,12}(\/[^\s"'<]+)/gi,
  )
  return [...places].map((match) => match[1] ?? '').find((folder) => existsSync(folder))
}

function shellCall(tools: readonly OfferedTool[], command: string): Call {
  for (const tool of tools) {
    const key = keyOf(tool.schema, commandKeys)
    if (!shells.includes(plain(tool.name)) || key === undefined) continue
    const isList = tool.schema.properties?.[key]?.type === 'array'
    const list = key === 'commands' ? [command] : ['bash', '-lc', command]
    return { tool, input: complete(tool.schema, { [key]: isList ? list : command }) }
  }
  return null
}

function toolCall(conversation: Conversation, wanted: NonNullable<ModelStep['tool']>, lookedUp: boolean): Call {
  const { tools, said } = conversation
  const isWanted = (name: string): boolean => name === wanted.name || new RegExp(`[_-]${wanted.name}$`).test(name)
  const offered = tools.find(({ name }) => isWanted(name))
  if (offered) return { tool: offered, input: complete(offered.schema, wanted.args) }
  // A deferred tool is mentioned by name at most; its schema has to be looked up first.
  const mentioned = said.match(/[\w-]+/g)?.find((name) => name !== wanted.name && isWanted(name))
  const search = tools.find(({ kind }) => kind === 'search')
  if (search && !lookedUp) {
    const query = mentioned === undefined ? wanted.name : `select:${mentioned}`
    return { tool: search, input: complete(search.schema, { query }) }
  }
  // Some never offer it, and have a tool that calls it.
  const bridge = tools.find(({ name }) => name === 'tool_call')
  if (!bridge || mentioned === undefined) return null
  return { tool: bridge, input: complete(bridge.schema, { name: mentioned, arguments: wanted.args }) }
}

const emptyValues: Readonly<Record<string, unknown>> = { number: 1, integer: 1, boolean: false, array: [], object: {} }

/** Adds arguments that the agent's version of a tool demands and the script does not know. */
function complete(schema: ToolSchema, input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const missing = (schema.required ?? []).filter((name) => !(name in input))
  const added = missing.map((name) => {
    const property = schema.properties?.[name]
    const type = [property?.type ?? 'string'].flat()[0]?.toLowerCase() ?? 'string'
    return [name, property?.enum?.[0] ?? emptyValues[type] ?? 'scripted']
  })
  return { ...input, ...Object.fromEntries(added) }
}
