import type { Command } from 'commander'
import type { Runner, SshConfig } from '../../../src-shared/contract/runners.ts'
import { quoted } from '../../platform/process/process-shell.ts'
import { runOnTerminal } from '../../platform/process/terminal-program.ts'
import { CliError } from '../cli-error.ts'
import { addClientCommand, runCommand, type CommandContext, type CommonOptions } from '../command-context.ts'
import { findRunner } from '../find.ts'

/** Adds `svc runner login`. */
export function addRunnerLogin(runner: Command): void {
  addClientCommand(runner, {
    usage: 'login <runner> [command...]',
    summary: 'start an agent on an SSH runner in this terminal, so that you can sign in there (admins only)',
    examples: ['svc runner login Big claude', 'svc runner login Big -- codex login', 'svc runner login Big'],
  })
    .allowExcessArguments()
    .action((text: string, command: readonly string[], options: CommonOptions) =>
      runCommand(options, async (scene) => login(scene, text, command)),
    )
}

/** What to do for runners that no terminal leads to. */
const elsewhere: Readonly<Record<Exclude<Runner['kind'], 'ssh'>, string>> = {
  here: 'This is your own machine. Start the agent in a terminal.',
  container:
    'A container has a home of its own. Mount the folder with the agent’s sign-in with --write, and name it in the agent’s variables (CLAUDE_CONFIG_DIR, CODEX_HOME), or give the agent a key there.',
  kubernetes:
    'A pod has a home of its own. Put the agent’s sign-in into a secret, mount it with --pod, and copy it into the home with --setup.',
  daemon: 'Copse can’t reach that machine. Start the agent in a terminal there.',
}

async function login(scene: CommandContext, text: string, command: readonly string[]): Promise<void> {
  const { id } = await findRunner(scene, text)
  const { kind, config } = await scene.client.call('runners.get', { runner_id: id })
  if (kind !== 'ssh') throw new CliError('no_terminal', elsewhere[kind])
  if (config === undefined || !('host' in config)) throw new CliError('admin_required', 'Only an admin can do this.')
  const code = await runOnTerminal('ssh', sshArguments(config, command))
  if (code !== 0) process.exitCode = 1
}

/** With a terminal, and with questions: a person sits there. Without a command it is the shell of the account. */
function sshArguments({ host, port, ssh_config }: SshConfig, command: readonly string[]): readonly string[] {
  return [
    ...(process.stdin.isTTY ? ['-t'] : []),
    ...(ssh_config === undefined ? [] : ['-F', ssh_config]),
    ...(port === undefined ? [] : ['-p', String(port)]),
    '--',
    host,
    ...(command.length === 0 ? [] : [quoted(command)]),
  ]
}
