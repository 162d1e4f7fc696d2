import { shellCommand } from '../platform/process/process-shell.ts'
import { ExecutorError } from '../ports/executors.ts'
import type { AcpAgent } from './acp/acp-agent.ts'
import { acpProfile } from './acp/acp-profile.ts'
import { sortArgs, startAgent } from './agent/agent-driver.ts'
import type { AgentDriverOptions } from './agent/agent-driver.ts'
import type { ExecutorProfileDriver } from './executor.ts'

/** Any agent that speaks ACP, by the command line that starts it, which has all its flags in it. */
export const anyAcpAgent: AcpAgent = {
  program: {
    executor: 'acp',
    name: 'ACP agent',
    program: '',
    installHint: 'Give the agent the command that starts it, like `npx -y @agentclientprotocol/claude-agent-acp`.',
    signInHint: 'Sign in with its own command, then run it again.',
  },
  args: (_run, own) => own,
  refusedArgs: { flags: {}, allowedShort: /^-/ },
  configuresViaProtocol: true,
}

/** The driver of agents that speak ACP. */
export function createAcpDriver(options: AgentDriverOptions = {}): ExecutorProfileDriver {
  const profile = acpProfile(anyAcpAgent)
  return {
    name: 'acp',
    location: 'local',
    start: (run, { signal }) =>
      startAgent(profile, run, {
        ...options,
        env: options.env ?? process.env,
        signal,
        launch: (args) => shellCommand(commandOf(run.config.command), args),
      }),
    refusedArgs: (config) => sortArgs(profile, config).refused,
    detect: () =>
      Promise.resolve({
        executor: 'acp',
        name: anyAcpAgent.program.name,
        installed: true,
        path: null,
        version: null,
        signed_in: null,
        hint: anyAcpAgent.program.installHint,
      }),
  }
}

function commandOf(command: string | undefined): string {
  const line = command?.trim() ?? ''
  if (line !== '') return line
  throw new ExecutorError('not_configured', `The agent has no command. ${anyAcpAgent.program.installHint}`)
}
