import type { AgentConfig, ExecutorProfile } from '../../src-shared/contract/projects.ts'
import { anyAcpAgent } from './acp.ts'
import { filterArgs, type RefusedArgs } from './agent/filter-args.ts'
import { claudeRefusedArgs } from './claude-code/command-line.ts'
import { codexRefusedArgs } from './codex/command-line.ts'
import { copilot } from './copilot.ts'
import { gemini } from './gemini.ts'
import { opencode } from './opencode.ts'
import { qwen } from './qwen.ts'

/** null: whatever a person gives is taken. */
const rules: { readonly [P in ExecutorProfile]: RefusedArgs | null } = {
  'claude-code': claudeRefusedArgs,
  codex: codexRefusedArgs,
  opencode: opencode.refusedArgs,
  gemini: gemini.refusedArgs,
  copilot: copilot.refusedArgs,
  qwen: qwen.refusedArgs,
  acp: anyAcpAgent.refusedArgs,
  command: null,
  external: null,
}

/** Those of a person's arguments that an agent would not get, because they are not its to set. */
export function refusedArgsOf(executor: ExecutorProfile, { args = [] }: Pick<AgentConfig, 'args'>): readonly string[] {
  const rule = rules[executor]
  return rule === null ? [] : filterArgs(args, rule).refused
}
