import { setTimeout as delay } from 'node:timers/promises'
import { Argument, type Command } from 'commander'
import { failureOf } from '../cli-error.ts'
import { complete, type Candidate, type KnownThing } from '../complete.ts'
import { completionScripts, shells, type Shell } from '../completion-scripts.ts'
import { findProject } from '../find.ts'
import { createOutput, endWithReader, plain } from '../output.ts'
import { shortId } from '../pick.ts'
import { addCommand, createCommandContext, type CommandContext } from '../command-context.ts'

/** A longer list helps no reader. */
const mostTasks = 200

/** Tab completion must not wait for a slow service. */
const patienceMs = 2_000

/** Adds `svc completion`, and the hidden command that its scripts call. */
export function addCompletion(program: Command): void {
  addCommand(program, {
    usage: 'completion',
    summary: 'print what makes a shell complete `svc` with Tab',
    examples: [
      'echo \'eval "$(svc completion bash)"\' >> ~/.bashrc',
      'echo \'eval "$(svc completion zsh)"\' >> ~/.zshrc',
      'svc completion fish > ~/.config/fish/completions/svc.fish',
    ],
  })
    .addArgument(new Argument('<shell>').choices(shells))
    .action((shell: Shell) => {
      endWithReader()
      return createOutput(false).raw(completionScripts[shell])
    })
  program.command('__complete [words...]', { hidden: true }).action(async (words: readonly string[]) => {
    endWithReader()
    const found = await complete(program, words, listThings)
    // Tabs and line ends separate fields, so they become spaces here.
    const line = ({ value, about }: Candidate) => `${value}\t${plain(about).replaceAll(/\s+/g, ' ')}\n`
    await createOutput(false).raw(found.map(line).join(''))
  })
}

async function listThings(kind: KnownThing): Promise<readonly Candidate[]> {
  try {
    const late = delay(patienceMs, [], { ref: false })
    return await Promise.race([namesOf(kind, createCommandContext({})), late])
  } catch (error) {
    if (failureOf(error, '') === null) throw error
    // Offers nothing if the user is not signed in or the service is stopped, because completion can't show errors.
    return []
  }
}

async function namesOf(kind: KnownThing, scene: CommandContext): Promise<readonly Candidate[]> {
  if (kind === 'task' || kind === 'template') {
    const project = await findProject(scene, undefined)
    if (kind === 'template') {
      const { items } = await scene.client.call('task_templates.list', { project_id: project.id })
      return items.map(({ name, title }) => ({ value: name, about: title }))
    }
    const { items: tasks } = await scene.client.call('tasks.list', { project_id: project.id, limit: mostTasks })
    return tasks.map(({ ref, title, status }) => ({ value: ref, about: `${title} (${status})` }))
  }
  if (kind === 'runner') {
    const { items: runners } = await scene.client.call('runners.list', {})
    return runners.map(({ name, state }) => ({ value: name, about: state }))
  }
  const { items } = await scene.client.call(kind === 'project' ? 'projects.list' : 'agents.list', {})
  return items.map(({ id, name }) => ({ value: shortId(id, items), about: name }))
}
