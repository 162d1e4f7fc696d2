import { isToolSearch } from './choose-step.ts'
import type { ChosenStep, ModelStep } from './choose-step.ts'
import type { Conversation, OfferedTool, ToolSchema } from './read-conversation.ts'

/** What the model answers: words, a tool call, or both. */
export interface ModelTurn {
  readonly say: string
  readonly call: { readonly name: string; readonly input: Readonly<Record<string, unknown>> } | null
}

/** Puts a step in terms of the tools that the agent offers. A step that none of them fits becomes words that say so. */
export function playStep({ step, lookedUp }: ChosenStep, conversation: Conversation): ModelTurn {
  const { tools } = conversation
  const call =
    step.write !== undefined
      ? writeCall(tools, step.write)
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

type Call = ModelTurn['call']

function writeCall(tools: readonly OfferedTool[], file: NonNullable<ModelStep['write']>): Call {
  const tool = tools.find(({ name }) => name === 'Write')
  return tool
    ? { name: tool.name, input: complete(tool.schema, { file_path: file.path, content: file.content }) }
    : null
}

function shellCall(tools: readonly OfferedTool[], command: string): Call {
  const tool = tools.find(({ name }) => name === 'Bash')
  return tool ? { name: tool.name, input: complete(tool.schema, { command }) } : null
}

function toolCall(conversation: Conversation, wanted: NonNullable<ModelStep['tool']>, lookedUp: boolean): Call {
  const { tools, said } = conversation
  const isWanted = (name: string): boolean => name === wanted.name || name.endsWith(`__${wanted.name}`)
  const offered = tools.find(({ name }) => isWanted(name))
  if (offered) return { name: offered.name, input: complete(offered.schema, wanted.args) }
  // A deferred tool is only mentioned by its name; its schema has to be asked for first.
  const search = tools.find(({ name }) => isToolSearch(name))
  const mentioned = said.match(/[\w-]+/g)?.find(isWanted)
  if (!search || mentioned === undefined || lookedUp) return null
  return { name: search.name, input: complete(search.schema, { query: `select:${mentioned}` }) }
}

const emptyValues: Readonly<Record<string, unknown>> = { number: 1, integer: 1, boolean: false, array: [], object: {} }

/** Adds arguments that the agent's version of a tool demands and the script does not know of. */
function complete(schema: ToolSchema, input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const missing = (schema.required ?? []).filter((name) => !(name in input))
  const added = missing.map((name) => {
    const property = schema.properties?.[name]
    return [name, property?.enum?.[0] ?? emptyValues[property?.type ?? 'string'] ?? 'scripted']
  })
  return { ...input, ...Object.fromEntries(added) }
}
