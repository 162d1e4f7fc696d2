import { client, methods, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk'
import type {
  ClientContext,
  InitializeResponse,
  LoadSessionResponse,
  McpServer,
  NewSessionResponse,
  PromptResponse,
  CreateElicitationRequest,
  CreateElicitationResponse,
  RequestPermissionRequest,
  Stream,
} from '@agentclientprotocol/sdk'
import type { AgentRun } from '../definition.ts'
import { mcpServerName } from '../agent/mcp-server.ts'
import { wordsOfError } from '../agent/classify-output.ts'
import { isRecord, isText } from '../agent/text.ts'

/** An agent session that is ready for its prompt. */
export interface AcpSession {
  readonly id: string
  /** What the program calls itself. */
  readonly program: string
  /** The model of the session; null if the agent does not tell it. */
  readonly model: string | null
  /** Sends images if the agent accepts them. */
  prompt(text: string, images?: AgentRun['images']): Promise<PromptResponse>
  /** Sends a request without effect; its response arrives after everything sent before. */
  touch(): Promise<void>
}

export interface AcpSessionRequest {
  readonly run: AgentRun
  readonly stream: Stream
  /** Model and effort to set over the protocol; null if they are set otherwise or left to the agent. */
  readonly model: string | null
  readonly effort: string | null
  /** true: the agent asks no one; false: it must ask, if it has such modes; null leaves its mode. */
  readonly free: boolean | null
  /** Time limit until a session exists, in ms; by default a minute. */
  readonly startMs?: number | undefined
  /** Resolves with whether the call is allowed. */
  readonly permit: (toolCallId: string, signal: AbortSignal) => Promise<boolean>
  /** Resolves with people's answers to a form of the agent; null: no one can be asked. */
  readonly fillIn: ((form: CreateElicitationRequest, signal: AbortSignal) => Promise<CreateElicitationResponse>) | null
}

/** Modes in which agents ask no one. The worktree isolates them. */
const freeModes = ['bypassPermissions', 'full-access', 'yolo']
/** Modes in which agents ask before they change or run something. */
const askingModes = ['default', 'manual', 'read-only', 'ask']

/** A failure whose message is shown to people unchanged. */
export class AcpSetupError extends Error {
  override readonly name = 'AcpSetupError'
  readonly code: 'no_answer' | 'sign_in' | 'no_session' | 'no_choice'

  constructor(code: AcpSetupError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Initializes the connection and opens a session, or resumes an earlier one. */
export async function openAcpSession(request: AcpSessionRequest): Promise<AcpSession> {
  const { run, stream, model, effort, free, permit, fillIn } = request
  const { agent } = client({ name: 'Copse' })
    .onRequest(methods.client.session.requestPermission, async ({ params, signal }) => ({
      outcome: choose(params, (await permit(params.toolCall.toolCallId, signal)) ? 'allow' : 'reject'),
    }))
    .onRequest(
      methods.client.elicitation.create,
      async ({ params, signal }) => (await fillIn?.(params, signal)) ?? { action: 'cancel' },
    )
    .connect(stream)
  const { about, opened } = await inTime(
    shakeHands(agent, fillIn !== null).then(async (known) => ({
      about: known,
      opened: await enter(agent, known, run),
    })),
    request.startMs ?? startMs,
  )
  if (free !== null) await takeMode(agent, opened, free ? freeModes : askingModes, free)
  if (model !== null) await configure(agent, opened, 'model', model)
  if (effort !== null) await configure(agent, opened, 'effort', effort)
  return {
    id: opened.sessionId,
    program: about.agentInfo?.name ?? '',
    model: modelOf(opened),
    prompt: (text, images = []) => {
      const taken = about.agentCapabilities?.promptCapabilities?.image === true ? images : []
      const pictures = taken.map(({ media_type, data_base64: data }) => ({
        type: 'image' as const,
        mimeType: media_type,
        data,
      }))
      return agent.request(methods.agent.session.prompt, {
        sessionId: opened.sessionId,
        prompt: [...pictures, { type: 'text', text }],
      })
    },
    touch: async () => {
      const modeId = opened.modes?.currentModeId
      if (modeId !== undefined)
        await agent.request(methods.agent.session.setMode, { sessionId: opened.sessionId, modeId })
    },
  }
}

function modelOf({ configOptions, models }: Opened): string | null {
  const option = findOption(configOptions, 'model')
  const chosen = option && 'currentValue' in option ? option.currentValue : models?.currentModelId
  return isText(chosen) ? chosen : null
}

/** A program that waits at a terminal never answers, but one that downloads a package first needs time. */
const startMs = 60_000

/** Settles as `answer` does, or rejects after the agent was silent for `ms`. */
async function inTime<T>(answer: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_resolve, reject) => {
    const text = `The agent didn't answer within ${ms / 1_000} s of its start. Run it once in a terminal to see what it asks.`
    timer = setTimeout(() => reject(new AcpSetupError('no_answer', text)), ms)
  })
  try {
    return await Promise.race([answer, silence])
  } finally {
    clearTimeout(timer)
  }
}

const shakeHands = (agent: ClientContext, canAsk: boolean): Promise<InitializeResponse> =>
  agent.request<InitializeResponse>(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    // Without it an agent asks in plain words at its end, or decides by itself.
    clientCapabilities: canAsk ? { elicitation: { form: {} } } : {},
    clientInfo: { name: 'copse', title: 'Copse', version: '1' },
  })

type Opened = Pick<NewSessionResponse, 'sessionId' | 'modes' | 'configOptions'> & {
  /** How some agents name their models besides `configOptions`. */
  readonly models?: { readonly currentModelId?: string } | null | undefined
}

async function enter(agent: ClientContext, about: InitializeResponse, run: AgentRun): Promise<Opened> {
  const { agentCapabilities: can } = about
  const place = {
    ...claudeMeta(about),
    cwd: run.cwd,
    mcpServers: can?.mcpCapabilities?.http === true ? mcpServersOf(run) : [],
  }
  const { session_id } = run
  try {
    if (session_id === null) return await agent.request(methods.agent.session.new, place)
    const session = { ...place, sessionId: session_id }
    // Resuming is silent; loading replays the whole session.
    if ((can?.sessionCapabilities?.resume ?? null) !== null) {
      return { ...(await agent.request(methods.agent.session.resume, session)), sessionId: session_id }
    }
    return { ...(await agent.request<LoadSessionResponse>(methods.agent.session.load, session)), sessionId: session_id }
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    if (error.code === authRequired) throw new AcpSetupError('sign_in', describeError(error), { cause: error })
    if (session_id === null) throw error
    const text = `The session ${session_id} can't be taken up: ${describeError(error)}`
    throw new AcpSetupError('no_session', text, { cause: error })
  }
}

/** Has Claude Code's adapter pass on what it otherwise keeps to itself: that the model's server refuses. */
const claudeMeta = ({ agentInfo }: InitializeResponse) =>
  /claude/i.test(agentInfo?.name ?? '')
    ? {
        _meta: {
          claudeCode: { emitRawSDKMessages: [{ type: 'system', subtype: 'api_retry' }, { type: 'rate_limit_event' }] },
        },
      }
    : {}

/** As the protocol numbers it. */
const authRequired = -32000

function mcpServersOf({ mcp }: AgentRun): McpServer[] {
  if (mcp === null) return []
  const headers = [{ name: 'Authorization', value: `Bearer ${mcp.token}` }]
  return [{ type: 'http', name: mcpServerName, url: mcp.url, headers }]
}

/**
 * If no one can be asked, requests are allowed anyway, but fewer are faster. If someone can, a mode of the person's
 * own settings that never asks must not apply.
 */
async function takeMode(
  agent: ClientContext,
  { sessionId, modes }: Opened,
  wanted: readonly string[],
  free: boolean,
): Promise<void> {
  const modeId = wanted.find((id) => modes?.availableModes.some((mode) => mode.id === id))
  if (modeId !== undefined && modes?.currentModeId !== modeId) {
    await agent.request(methods.agent.session.setMode, { sessionId, modeId })
  }
  if (free || modeId !== undefined || !freeModes.includes(modes?.currentModeId ?? '')) return
  const text = `The agent is in mode ${modes?.currentModeId ?? ''}, which never asks, and has no mode that does. Allow it everything.`
  throw new AcpSetupError('no_choice', text)
}

/** Options that people can set for an agent, with the protocol's category. */
const choices = { model: 'model', effort: 'thought_level' } as const

/** An agent may have several options of a category: a provider is one of the models' too. */
const findOption = (options: Opened['configOptions'], what: keyof typeof choices) =>
  options?.find(({ id }) => id === what) ?? options?.find(({ category }) => category === choices[what])

async function configure(
  agent: ClientContext,
  { sessionId, configOptions }: Opened,
  what: keyof typeof choices,
  value: string,
): Promise<void> {
  const option = findOption(configOptions, what)
  if (option === undefined) {
    throw new AcpSetupError('no_choice', `This agent has no setting for its ${what}. Leave the ${what} empty.`)
  }
  try {
    await agent.request(methods.agent.session.setConfigOption, { sessionId, configId: option.id, value })
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    const text = `The agent doesn't accept the ${what} ${value}: ${describeError(error)}`
    throw new AcpSetupError('no_choice', text, { cause: error })
  }
}

/** Allows once only, because agents may store longer permissions in a file of the worktree. */
function choose(
  { options }: RequestPermissionRequest,
  what: 'allow' | 'reject',
): { outcome: 'selected'; optionId: string } | { outcome: 'cancelled' } {
  const option =
    options.find(({ kind }) => kind === `${what}_once`) ?? options.find(({ kind }) => kind === `${what}_always`)
  return option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' }
}

/** Returns the message of a protocol error with its details. Some programs use the status of the model's server as code. */
export function describeError({ code, data, message }: RequestError): string {
  const fields = isRecord(data) ? [data['details'], data['message']] : [data]
  const details = fields.find(isText)
  const words = wordsOfError(message)
  const status = code >= 400 && code < 600 && !words.includes(String(code)) ? `${code} ` : ''
  return `${status}${details === undefined || words.includes(details) ? words : `${words}: ${details}`}`
}
