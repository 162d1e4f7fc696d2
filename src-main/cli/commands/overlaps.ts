import type { Command } from 'commander'
import { addClientCommand, runCommand, type CommandContext, type CommonOptions } from '../command-context.ts'
import { findProject } from '../find.ts'
import { plain } from '../output.ts'
import { formatTable } from '../table.ts'

/** `svc overlaps`. */
export function addOverlaps(program: Command): void {
  addClientCommand(program, {
    usage: 'overlaps [project]',
    summary: 'show which unfinished tasks would conflict, uncommitted work included (default: the folder’s project)',
    examples: ['svc overlaps', "svc overlaps --json | jq '.items[].files'"],
  }).action((text: string | undefined, options: CommonOptions) => runCommand(options, (scene) => list(scene, text)))
}

async function list(scene: CommandContext, text: string | undefined): Promise<void> {
  const { client, out } = scene
  const project = await findProject(scene, text)
  const answer = await client.call('overlaps.list', { project_id: project.id })
  const ids = [...new Set(answer.items.flatMap(({ a, b }) => [a, b]))]
  const tasks = out.json ? [] : await Promise.all(ids.map((task_id) => client.call('tasks.get', { task_id })))
  const refs = new Map(tasks.map(({ id, ref }) => [id, ref]))
  await out.answer(answer, () => {
    if (answer.items.length === 0) return 'No tasks overlap.'
    const rows = answer.items.map(({ a, b, kind, files }) => [
      refs.get(a) ?? a,
      refs.get(b) ?? b,
      kind === 'conflict' ? 'conflict' : 'same lines nearby',
      plain(files.join(', ')),
    ])
    return formatTable(['TASK', 'WITH', 'WHAT', 'FILES'], rows)
  })
}
