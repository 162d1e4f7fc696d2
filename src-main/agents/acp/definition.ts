import { executorInfos } from '../../../src-shared/contract/executor-profiles.ts'
import { shellCommand } from '../../platform/process/process-shell.ts'
import { ExecutorError } from '../../ports/executors.ts'
import type { AcpAgent } from './acp-agent.ts'
import { acpProfile } from './acp-profile.ts'
import { sortArgs, startAgent } from '../agent/agent-driver.ts'
import type { ExecutorDefinition } from '../definition.ts'

/** Any ACP agent, started by a command line that contains all its flags. */
export const anyAcpAgent: AcpAgent = {
  // The files that control an unknown agent are unknown.
  configNames: [],
  program: {
    executor: 'acp',
    program: '',
    installHint: 'Enter the command that starts the agent, like `npx -y @agentclientprotocol/claude-agent-acp`.',
    signInHint: 'Sign in with its own command, then run it again.',
  },
  args: (_run, own) => own,
  refusedArgs: { flags: {}, allowedShort: /^-/ },
  configuresViaProtocol: true,
  // Programs that descend from opencode.
  tellsLastRequest: (name) => /opencode|kilo/i.test(name),
}

const profile = acpProfile(anyAcpAgent)

export const definition: ExecutorDefinition = {
  executor: 'acp',
  configNames: anyAcpAgent.configNames,
  start: (run, { signal }) =>
    startAgent(profile, run, {
      env: process.env,
      signal,
      launch: (args) => shellCommand(commandOf(run.config.command), args),
    }),
  refusedArgs: (config) => sortArgs(profile, config).refused,
  detect: () =>
    Promise.resolve({
      executor: 'acp',
      name: executorInfos.acp.name,
      installed: true,
      path: null,
      version: null,
      signed_in: null,
      hint: anyAcpAgent.program.installHint,
    }),
}

function commandOf(command: string | undefined): string {
  const line = command?.trim() ?? ''
  if (line !== '') return line
  throw new ExecutorError('not_configured', `The agent has no command. ${anyAcpAgent.program.installHint}`)
}
