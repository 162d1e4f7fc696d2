import type { Conversation } from './conversation.ts'

/** One turn of the model. Without `write`, `shell` or `tool` it ends the agent's turn with its text. */
export interface ModelStep {
  /** Text; with a tool it comes before the call. */
  readonly say?: string
  /** Writes a file with the agent's own tool; a relative path starts at its working directory. */
  readonly write?: { readonly path: string; readonly content: string }
  /** Runs a command in the agent's own shell. */
  readonly shell?: string
  /** Calls any tool whose name ends like this, such as an MCP tool `mcp__svc__NAME`. */
  readonly tool?: { readonly name: string; readonly args: Readonly<Record<string, unknown>> }
  /** Answers only after this many ms. */
  readonly delay?: number
  /** Answers with this HTTP status. */
  readonly error?: number
  /** Headers of an answer with `error`: `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface ModelScript {
  /** Played in turn; the last one repeats. */
  readonly steps: readonly ModelStep[]
  /** What comes instead from the first later prompt with the text `on` that brings no script of its own. */
  readonly next?: ModelScript & { readonly on: string }
}

export interface ChosenStep {
  readonly step: ModelStep
  readonly index: number
  /** The agent has just looked a tool up for this step. */
  readonly lookedUp: boolean
}

const opening = '<model-script>'
const closing = '</model-script>'

/** A prompt that contains its own script, which restarts the count, so that a follow-up has its own steps. */
export function scripted(prompt: string, steps: readonly ModelStep[], next?: ModelScript['next']): string {
  // `<` in the steps would end the marker early.
  return `${prompt} ${opening}${JSON.stringify({ steps, next }).replaceAll('<', '\\u003c')}${closing}`
}

/** Returns the step for this point of the conversation, by the number of tool calls since the prompt. */
export function chooseStep(conversation: Conversation, standing: ModelScript): ChosenStep {
  let script = standing
  let from = conversation.prompts[0]?.at ?? 0
  for (const prompt of conversation.prompts) {
    const { next }: ModelScript = script
    const own = embeddedScript(prompt.text) ?? (next && prompt.text.includes(next.on) ? next : null)
    if (own === null) continue
    script = own
    from = prompt.at
  }
  const since = conversation.calls.filter((call) => call.at > from)
  const index = since.filter((call) => !isToolSearch(call.name)).length
  const step = script.steps[Math.min(index, script.steps.length - 1)] ?? { say: 'Nothing to do.' }
  return { step, index, lookedUp: isToolSearch(since.at(-1)?.name ?? '') }
}

/** Looking a tool up is no step of a script. */
const isToolSearch = (name: string): boolean => /^toolsearch(?:call)?$/.test(name.toLowerCase().replaceAll('_', ''))

function embeddedScript(text: string): ModelScript | null {
  const start = text.lastIndexOf(opening)
  const end = text.indexOf(closing, start)
  if (start < 0 || end < 0) return null
  // A broken script is a mistake in the test, so it is reported.
  return JSON.parse(text.slice(start + opening.length, end)) as ModelScript
}
