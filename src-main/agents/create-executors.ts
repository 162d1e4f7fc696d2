import { executorInfos, type ExecutorProfile } from '../../src-shared/contract/executor-profiles.ts'
import { reap } from '../platform/process/process.ts'
import type { Executors } from '../ports/executors.ts'
import { definition as acp } from './acp/definition.ts'
import { definition as claudeCode } from './claude-code/definition.ts'
import { definition as codex } from './codex/definition.ts'
import { definition as command } from './command/definition.ts'
import { definition as copilot } from './copilot/definition.ts'
import type { ExecutorDefinition } from './definition.ts'
import { definition as external } from './external/definition.ts'
import { definition as gemini } from './gemini/definition.ts'
import { definition as opencode } from './opencode/definition.ts'
import { definition as qwen } from './qwen/definition.ts'

type Definitions = { readonly [P in ExecutorProfile]: ExecutorDefinition }

/** Every type of agent. One of the contract that is missing here is a type error. */
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

/** Names of the files and folders in a repository that steer any agent. */
export const configNames: ReadonlySet<string> = new Set(all.flatMap((definition) => definition.configNames))

/** All types of agent. */
export function createExecutors(): Executors {
  return {
    location: (profile) => executorInfos[profile].location,
    start: async (profile, run, options) =>
      await executorDefinitions[profile].start({ ...run, protectedNames: configNames }, options),
    refusedArgs: (profile, config) => executorDefinitions[profile].refusedArgs(config),
    reap: async (process, executionId) => await reap(process, executionId),
    detect: async (options) => await Promise.all(all.map((definition) => definition.detect(options))),
  }
}
