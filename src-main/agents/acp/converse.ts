import { executorInfos } from '../../../src-shared/contract/executor-profiles.ts'
import { methods, RequestError } from '@agentclientprotocol/sdk'
import type { AnyMessage, PromptResponse, Stream } from '@agentclientprotocol/sdk'
import { policyOf } from '../../domain/access/permissions.ts'
import type { AgentRun } from '../definition.ts'
import type { AgentSession, AgentSessionListener, RunResult } from '../agent/agent-profile.ts'
import { isRefusal } from '../agent/classify-output.ts'
import { createPermissions } from '../agent/permissions.ts'
import type { PermissionRequest, Permissions } from '../agent/permissions.ts'
import { retryText } from '../agent/retry-text.ts'
import { readJsonLines } from '../agent/read-json-lines.ts'
import { createRunState, toRunResult, recordFailure } from '../agent/run-state.ts'
import type { RunState } from '../agent/run-state.ts'
import { clip, isRecord } from '../agent/text.ts'
import type { AcpAgent } from './acp-agent.ts'
import { askForm } from './ask-form.ts'
import { readClaudeReport, type ClaudeReport } from './claude-reports.ts'
import { createUpdateReader } from './read-updates.ts'
import type { UpdateReader } from './read-updates.ts'
import { AcpSetupError, describeError, openAcpSession } from './session.ts'
import type { AcpSession } from './session.ts'
import { readAskedCall, readUpdate } from './updates.ts'
import { createUsageCount } from './usage.ts'
import { createUnaskedCalls, type UnaskedCalls } from './unasked.ts'
import type { UsageCount } from './usage.ts'

/** The state of one session. */
interface AcpState {
  readonly agent: AcpAgent
  readonly run: AgentRun
  readonly listener: AgentSessionListener
  /** What the program calls itself, and the model that it has chosen. */
  readonly program: { name: string; model: string | null }
  readonly story: RunState
  readonly usage: UsageCount
  readonly updates: UpdateReader
  readonly permissions: Permissions
  /** Pending permission requests, by call ID. */
  readonly asked: Map<string, PermissionRequest>
  readonly unasked: UnaskedCalls
  /** Messages of people, sent at the end of the turn. */
  readonly queue: string[]
  /** The replay of earlier turns is over. */
  present: boolean
  /** Number of updates that replayed earlier turns. */
  replayed: number
  /** The agent went silent in the middle of a turn. */
  cutShort: boolean
  /** The run is being stopped, so no further prompt is sent. */
  cancelled: boolean
  /** The agent did not answer in time after its start. */
  neverBegan: boolean
  /** Why the run was given up before its end. */
  givenUp: string | null
  /** When the account's limit resets, as told beside the messages. */
  resets_at: string | null
}

/** Runs an Agent Client Protocol session: the prompt, then one prompt per message of a person. */
export function converseOverAcp(agent: AcpAgent, run: AgentRun, listener: AgentSessionListener): AgentSession {
  const story = createRunState(null)
  const program: { name: string; model: string | null } = { name: '', model: null }
  const { isNotice = () => false, isFailure = () => false, tellsLastRequest = () => false } = agent
  const usage = createUsageCount({
    model: () => run.config.model ?? program.model,
    tellsLastCall: () => tellsLastRequest(program.name),
  })
  const asked = new Map<string, PermissionRequest>()
  // The protocol has no field for the reason of a denial.
  const permissions = createPermissions(run, { tellsWhy: false })
  const unasked = createUnaskedCalls({ run, permissions, wasAsked: (id) => asked.has(id), listener })
  const updates = createUpdateReader({
    cwd: run.cwd,
    story,
    usage,
    listener,
    isNotice,
    isFailure,
    onDone: unasked.ended,
  })
  const talk: AcpState = {
    agent,
    run,
    listener,
    program,
    story,
    usage,
    updates,
    permissions,
    asked,
    unasked,
    queue: [],
    present: false,
    replayed: 0,
    cutShort: false,
    neverBegan: false,
    cancelled: false,
    givenUp: null,
    resets_at: null,
  }
  const { stream, receive, close } = createStream(listener.write)
  const reader = readJsonLines({ ...listener, onJson: (json) => onMessage(talk, json, receive) })
  return {
    push: reader.push,
    end: () => {
      reader.end()
      updates.flush()
      close()
    },
    begin: (prompt) => void runPromptLoop(talk, stream, prompt),
    send: (text) => {
      talk.queue.push(text)
      return Promise.resolve()
    },
    cancel: () => {
      talk.cancelled = true
      const { session_id } = story
      if (session_id === null) return
      const message = { jsonrpc: '2.0', method: methods.agent.session.cancel, params: { sessionId: session_id } }
      // An agent that has closed its stdin ends anyway.
      void listener.write(`${JSON.stringify(message)}\n`).catch(() => undefined)
    },
    result: (stderr) => acpRunResult(talk, stderr),
  }
}

/** The SDK's end of the connection: `receive` passes the agent's messages to it. */
function createStream(write: (text: string) => Promise<void>): {
  readonly stream: Stream
  readonly receive: (message: AnyMessage) => void
  readonly close: () => void
} {
  let controller: ReadableStreamDefaultController<AnyMessage> | undefined
  const readable = new ReadableStream<AnyMessage>({
    start: (created) => void (controller = created),
    cancel: () => void (controller = undefined),
  })
  const writable = new WritableStream<AnyMessage>({ write: (message) => write(`${JSON.stringify(message)}\n`) })
  return {
    stream: { readable, writable },
    receive: (message) => controller?.enqueue(message),
    close: () => {
      controller?.close()
      controller = undefined
    },
  }
}

/** Reads updates here, in order and of any size; the SDK handles requests and responses. */
function onMessage(talk: AcpState, json: unknown, receive: (message: AnyMessage) => void): boolean {
  if (!isRecord(json) || json['jsonrpc'] !== '2.0') return false
  if (json['method'] === methods.client.session.requestPermission) {
    const call = readAskedCall(json)
    if (call !== null) talk.asked.set(call.toolCallId, talk.updates.asked(call))
  }
  const report = readClaudeReport(json)
  if (report !== null) takeReport(talk, report)
  if (json['method'] !== methods.client.session.update) {
    // Agent-specific notifications are ignored.
    if (json['id'] !== undefined || json['method'] === methods.protocol.cancelRequest) receive(json as AnyMessage)
    return true
  }
  const update = readUpdate(json)
  if (update === 'garbage') return false
  if (!talk.present) talk.replayed += 1
  if (update !== null && (talk.present || update.sessionUpdate === 'usage_update')) talk.updates.read(update)
  return true
}

/** Tells of refused requests; one for want of a sign-in fails however often it is repeated. */
function takeReport(talk: AcpState, report: ClaudeReport): void {
  const { listener, agent, program } = talk
  if (report.type === 'limit') {
    talk.resets_at = report.resets_at ?? talk.resets_at
    return
  }
  listener.onEntry({ type: 'error', at: listener.now(), text: retryText(report.request) })
  if (report.request.error_status !== unauthorized || talk.givenUp !== null) return
  talk.givenUp = `${program.name || executorInfos[agent.program.executor].name} is not signed in (401). ${agent.program.signInHint}`
  listener.giveUp?.()
}

const unauthorized = 401

async function runPromptLoop(talk: AcpState, stream: Stream, prompt: string): Promise<void> {
  const { listener, story, usage, updates, queue } = talk
  try {
    const session = await openSession(talk, stream)
    if (talk.run.session_id !== null && talk.agent.replaysAfterLoad === true) await drainReplay(talk, session)
    talk.present = true
    usage.begin(talk.run.session_id === null ? null : talk.run.session_usage?.cost_usd)
    let images = talk.run.images
    for (let words: string | undefined = prompt; words !== undefined; words = queue.shift()) {
      listener.onTurn()
      story.ended = false
      endTurn(talk, await session.prompt(words, images))
      images = []
      if (talk.cancelled) break
    }
  } catch (error) {
    updates.flush()
    fail(talk, error)
  }
  listener.onTurnEnd(0)
}

/** Waits until an agent that replays earlier turns has finished. */
async function drainReplay(talk: AcpState, session: AcpSession): Promise<void> {
  let replayedBefore: number
  do {
    replayedBefore = talk.replayed
    await session.touch()
  } while (talk.replayed > replayedBefore)
}

async function openSession(talk: AcpState, stream: Stream): Promise<AcpSession> {
  const { agent, run, listener, story } = talk
  const session = await openAcpSession({
    run,
    stream,
    model: agent.configuresViaProtocol ? (run.config.model ?? null) : null,
    effort: agent.configuresViaProtocol ? (run.config.effort ?? null) : null,
    free: policyOf(run.config) === 'all' ? (agent.reportsToolsViaPermission === true ? null : true) : false,
    startMs: agent.startMs,
    permit: (toolCallId, signal) => permit(talk, toolCallId, signal),
    fillIn: policyOf(run.config) === 'all' ? null : (form, signal) => askForm(form, talk.permissions.ask, signal),
  })
  talk.program.name = session.program
  talk.program.model = session.model
  story.session_id = session.id
  listener.onSession(session.id)
  return session
}

/** A call that can't be read is denied, unless everything is allowed. */
async function permit(
  { permissions, asked, run }: AcpState,
  toolCallId: string,
  signal: AbortSignal,
): Promise<boolean> {
  const call = asked.get(toolCallId)
  if (call === undefined) return policyOf(run.config) === 'all'
  return (await permissions.decide(call, signal)).allowed
}

const limits: Readonly<Record<string, string>> = {
  max_tokens: 'The agent reached its token limit for one turn.',
  max_turn_requests: 'The agent reached its request limit for one turn.',
}

function endTurn({ agent, updates, usage, listener, story }: AcpState, response: PromptResponse): void {
  updates.flush()
  story.ended = true
  const { finalMessage: words } = story
  if (words !== null && (agent.isFailure?.(words) === true || isRefusal(words))) recordFailure(story, words)
  const spent = usage.endTurn(response)
  if (spent !== null) listener.onEntry({ type: 'usage', at: listener.now(), ...spent })
  const limit = limits[response.stopReason]
  const why = limit ?? (response.stopReason === 'refusal' ? 'The model refused to continue.' : null)
  if (why === null) return
  recordFailure(story, why, limit !== undefined)
  listener.onEntry({ type: 'error', at: listener.now(), text: why })
}

/** Records the error. For an agent that went silent, stderr and the exit code explain more. */
function fail(talk: AcpState, error: unknown): void {
  const { agent, story, listener } = talk
  if (!(error instanceof RequestError) && !(error instanceof AcpSetupError)) {
    talk.cutShort = true
    return
  }
  const { executor, signInHint } = agent.program
  const told = error instanceof RequestError ? describeError(error) : error.message
  const text =
    error instanceof AcpSetupError && error.code === 'sign_in'
      ? `${executorInfos[executor].name}: ${told}. ${signInHint}`
      : told
  talk.neverBegan = error instanceof AcpSetupError && error.code === 'no_answer'
  story.ended = true
  recordFailure(story, text)
  listener.onEntry({ type: 'error', at: listener.now(), text: clip(text) })
}

function acpRunResult(talk: AcpState, stderr: string): RunResult {
  const { story, run, usage, agent, unasked, cutShort, neverBegan } = talk
  story.usage = usage.total()
  if (cutShort)
    recordFailure(story, stderr || `${executorInfos[agent.program.executor].name} ended in the middle of its turn.`)
  // What the agent was waiting for is mostly on its stderr.
  if (neverBegan && stderr !== '') recordFailure(story, `${story.failure?.text ?? ''} It wrote: ${stderr}`)
  if (talk.givenUp !== null) recordFailure(story, talk.givenUp, false)
  const result = toRunResult(story, stderr)
  const usage_limit = result.usage_limit && { resets_at: result.usage_limit.resets_at ?? talk.resets_at }
  const alone = unasked.result()
  // A session that failed to resume must not be resumed again, unless the agent never got that far.
  const session_id = result.session_id ?? (story.failure !== null && !cutShort ? null : run.session_id)
  return { ...result, session_id, ...(usage_limit && { usage_limit }), ...(alone && { unasked: alone }) }
}
