import type { Agent } from '../../src-shared/contract/projects.ts'
import { knownAgents } from './agent/known-agents.ts'
import { askingForHosts } from './agent/ask-host.ts'
import { foldersOf, makeFolders, neededBy } from './agent/needs.ts'
import { executorInfos, type ExecutorProfile } from '../../src-shared/contract/executor-profiles.ts'
import { readResetHeaders } from '../executions/rules/usage-limit.ts'
import { settleOrAbort } from '../platform/locks/settle-or-abort.ts'
import { reap } from '../platform/process/process.ts'
import type { Executors } from '../ports/executors.ts'
import { definition as acp } from './acp/definition.ts'
import { definition as claudeCode } from './claude-code/definition.ts'
import { definition as codex } from './codex/definition.ts'
import { definition as command } from './command/definition.ts'
import { definition as copilot } from './copilot/definition.ts'
import { containedNote } from '../domain/access/containment.ts'
import type { AgentHomes } from '../ports/agent-homes.ts'
import type { PlacedPrograms } from '../ports/agent-programs.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import {
  ContainmentUnavailable,
  type ContainedBox,
  type Containment,
  type Denial,
  type SeenAnswer,
} from '../ports/containment.ts'
import type { AgentLog } from '../ports/logs.ts'
import { ExecutorError, type ExecutionOutcome, type ExecutionRun, type ServerAnswer } from '../ports/executors.ts'
import type { ExecutorDefinition } from './definition.ts'
import { definition as external } from './external/definition.ts'
import { definition as gemini } from './gemini/definition.ts'
import { definition as opencode } from './opencode/definition.ts'
import { definition as qwen } from './qwen/definition.ts'

type Definitions = { readonly [P in ExecutorProfile]: ExecutorDefinition }

/** All executors. A missing one of the contract is a type error. */
const executorDefinitions: Definitions = {
  'claude-code': claudeCode,
  codex,
  opencode,
  gemini,
  copilot,
  qwen,
  acp,
  command,
  external,
}

const all = Object.values(executorDefinitions)

/** Names of files and folders in a repository that control any agent. */
export const configNames: ReadonlySet<string> = new Set(all.flatMap((definition) => definition.configNames))

/** Returns where agents keep settings, sessions and sign-ins: the usual folders, and the ones these agents name. */
export function credentialFolders(agents: readonly Pick<Agent, 'executor' | 'config'>[]): readonly string[] {
  const usual = [...all.flatMap(({ needs }) => needs ?? []), ...knownAgents].flatMap((needs) => foldersOf(needs, {}))
  const configured = agents.flatMap(({ executor, config }) => {
    const { needs } = executorDefinitions[executor]
    return needs && config.env ? foldersOf(needs, config.env) : []
  })
  return [...new Set([...usual, ...configured])]
}

/** What contained runs are held by. */
export interface ContainmentParts {
  readonly containment: Pick<Containment, 'box' | 'effectiveLevel'>
  readonly homes: Pick<AgentHomes, 'folderOf'>
  /**
   * The programs where runs are, if that is not this machine. There an agent has its kept home alone, and nothing of the
   * person's sign-ins and settings.
   */
  readonly programs?: PlacedPrograms
}

/** Creates all executors. */
export function createExecutors(parts?: ContainmentParts): Executors {
  const refusedHosts = new Set<string>()
  return {
    location: (profile) => executorInfos[profile].location,
    start: async (profile, run, options) => {
      const denied: Denial[] = []
      const programs = parts?.programs?.in(run.cwd)
      const homed = parts && programs ? await withKeptHome(parts, run) : run
      const box = parts && (await boxOf({ ...parts, refusedHosts }, profile, homed, denied, options))
      const { start } = executorDefinitions[profile]
      if (!box) return await start({ ...homed, protectedNames: configNames }, options)
      const log = reportedTo(box, run.log)
      const running = await start({ ...homed, log, protectedNames: configNames, box, programs }, options)
      return { ...running, outcome: running.outcome.then((end) => withContainment(end, denied)) }
    },
    refusedArgs: (profile, config) => executorDefinitions[profile].refusedArgs(config),
    reap: async (process, executionId) => await reap(process, executionId),
    inspect: async (profile, config, options) =>
      await executorDefinitions[profile].detect({ ...options, config, programs: parts?.programs }),
    detect: async (options) =>
      await Promise.all(all.map((definition) => definition.detect({ ...options, programs: parts?.programs }))),
  }
}

const now = (): string => new Date().toISOString()

/** Adds to a failure that the run was contained, and what it missed. */
function withContainment(outcome: ExecutionOutcome, denied: readonly Denial[]): ExecutionOutcome {
  const hasFailed = outcome.ended === 'exited' && (outcome.exit_code !== 0 || outcome.conclusion === 'silent')
  if (!hasFailed || outcome.conclusion === 'limit') return outcome
  const { exit_code, message } = outcome
  const failure = message ?? `The agent failed (exit ${exit_code ?? 'unknown'}).`
  return { ...outcome, message: `${failure} ${containedNote(denied)}` }
}

/** Wraps the log so that the box reads the output too. */
function reportedTo(box: ContainedBox, log: AgentLog): AgentLog {
  return {
    ...log,
    entry: (entry) => {
      log.entry(entry)
      if (entry.type === 'tool_result' || entry.type === 'stdout' || entry.type === 'stderr') box.onOutput(entry.text)
    },
  }
}

function answerReader(take: (answer: ServerAnswer) => void): (answer: SeenAnswer) => void {
  return ({ host, status, headers }) => {
    const at = readResetHeaders(headers, Date.now())
    take({ host, status, resets_at: at === null ? null : new Date(at).toISOString() })
  }
}

/** Gives a run the home that its agent has where it runs. */
async function withKeptHome({ homes }: ContainmentParts, run: ExecutionRun): Promise<ExecutionRun> {
  if (run.agent_id === undefined) return run
  const HOME = await homes.folderOf(run.agent_id)
  return { ...run, config: { ...run.config, env: { ...run.config.env, HOME } }, env: { ...run.env, HOME } }
}

/**
 * Creates the box that the agent's configuration asks for. Throws `ExecutorError`, with the log closed, if this
 * machine can't.
 */
async function boxOf(
  { containment, homes, programs, refusedHosts }: ContainmentParts & { readonly refusedHosts: Set<string> },
  profile: ExecutorProfile,
  run: ExecutionRun,
  denied: Denial[],
  { signal }: Cancellable,
): Promise<ContainedBox | undefined> {
  const { cwd, config, env, log } = run
  const { containment: level = 'none', allowed_hosts = [], extra_paths } = config
  if (containment.effectiveLevel(level) === 'none') return undefined
  const needed = await neededBy(executorDefinitions[profile].needs, all, run)
  const { folders, hosts } = programs ? { ...needed, folders: [] } : needed
  const variables = programs ? [] : [...executorInfos[profile].accountVariables, ...needed.variables]
  await makeFolders(extra_paths?.write ?? [])
  let box: ContainedBox | null = null
  const askFor = askingForHosts(run, { refused: refusedHosts, allow: (host) => box?.allowHost(host) })
  try {
    signal.throwIfAborted()
    const boxing = containment.box({
      level,
      cwd,
      variables: [...variables, ...Object.keys({ ...config.env, ...env })],
      home: config.env?.['HOME'],
      owner: { command: run.own_command, env: config.env },
      ...(run.agent_id !== undefined && { privateHome: await homes.folderOf(run.agent_id) }),
      onHomeWritten: (paths) => log.entry({ type: 'home_written', at: now(), paths: [...paths] }),
      onDenied: (denial) => {
        denied.push(denial)
        log.entry({ type: 'denied', at: now(), ...denial })
        askFor(denial)
      },
      ...(run.onAnswer && { onAnswer: answerReader(run.onAnswer) }),
      hosts: [...hosts, ...allowed_hosts],
      read: extra_paths?.read ?? [],
      write: [...folders, ...(extra_paths?.write ?? [])],
    })
    // An image can take long to build. The next start finds it.
    await settleOrAbort(boxing, signal)
    signal.throwIfAborted()
    box = await boxing
    return box ?? undefined
  } catch (error) {
    await log.close()
    if (!(error instanceof ContainmentUnavailable)) throw error
    throw new ExecutorError('not_configured', error.message, { cause: error })
  }
}
