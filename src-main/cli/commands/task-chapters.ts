import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Chapter, ChapterRisk, Chapters } from '../../../src-shared/contract/chapters.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import { usageError } from '../cli-error.ts'
import { addClientCommand, runCommand, type CommandContext, type CommonOptions } from '../command-context.ts'
import { findTask } from '../find.ts'
import { plain } from '../output.ts'
import { readFileArgument } from '../read-file-argument.ts'

const askAgainMs = 500
/** The rules of a large change take seconds; later its files are shown. */
const maxWaitMs = 60_000

/** Adds `svc task chapters`. */
export function addTaskChapters(task: Command): void {
  addClientCommand(task, {
    usage: 'chapters <task>',
    summary: 'show what a task has changed as chapters in the order to read them, and what to look at closely',
    examples: [
      'svc task chapters SHO-42',
      'svc task chapters SHO-42 --json',
      'svc task chapters SHO-42 --propose chapters.json',
    ],
  })
    .option('--propose <file>', 'divide the changes in words of your own: JSON with tree and chapters; - reads it')
    .action((ref: string, options: CommonOptions & { readonly propose?: string }) =>
      runCommand(options, (scene) => {
        const { propose: file } = options
        return file === undefined ? show(scene, ref) : propose(scene, ref, file)
      }),
    )
}

async function propose(scene: CommandContext, ref: string, file: string): Promise<void> {
  const read = parseJson(await readFileArgument(scene, file))
  if (typeof read !== 'object' || read === null || Array.isArray(read))
    throw usageError(`${file} has no chapters. It needs {"tree": "…", "chapters": [{"title", "why", "hunks"}]}.`)
  const { id } = await findTask(scene, ref)
  // The service checks what the object holds.
  const answer = await scene.client.call('tasks.propose_chapters', { ...(read as Proposal), task_id: id })
  await scene.out.answer(answer, () => describe(answer))
}

type Proposal = Omit<OperationInput<'tasks.propose_chapters'>, 'task_id'>

async function show(scene: CommandContext, ref: string): Promise<void> {
  const { id } = await findTask(scene, ref)
  const end = Date.now() + maxWaitMs
  let answer = await scene.client.call('tasks.chapters', { task_id: id })
  while (answer.pending && Date.now() < end) {
    await delay(askAgainMs)
    answer = await scene.client.call('tasks.chapters', { task_id: id })
  }
  await scene.out.answer(answer, () => describe(answer))
}

function describe({ chapters, risks, by, rejected }: Chapters): string {
  if (chapters.length === 0) return 'The branch has no changes.'
  const parts = chapters.map((chapter, at) => describeChapter(chapter, at + 1, risks))
  const notes = [
    ...(by === null ? [] : [`Titles, reasons and order are by ${plain(by)}.`]),
    ...(rejected === null ? [] : [`Chapters by ${plain(rejected.by)} were not taken: they don’t hold each hunk once.`]),
  ]
  return [...notes, ...parts].join('\n\n')
}

function describeChapter(chapter: Chapter, number: number, risks: readonly ChapterRisk[]): string {
  const { title, why, folded, hunks, packages = [] } = chapter
  const ids = new Set(hunks.map(({ id }) => id))
  const found = risks.filter(({ hunk }) => ids.has(hunk))
  const lines = hunks.reduce((sum, hunk) => sum + hunk.old[1] + hunk.new[1], 0)
  const size = lines === 1 ? '1 line' : `${lines} lines`
  return [
    `${number}. ${plain(title)} (${folded ? `${size}, folded` : size})`,
    `   ${plain(why)}`,
    ...found.map(describeRisk),
    ...packages.map(({ name, from, to }) => `   ${plain(`${name} ${from ?? 'new'} → ${to ?? 'gone'}`)}`),
    ...placesOf(hunks).map((place) => `   ${plain(place)}`),
  ].join('\n')
}

function describeRisk({ level, path, line, text, more }: ChapterRisk): string {
  const place = line === null ? path : `${path}:${line}`
  const rest = more === undefined ? '' : ` And ${more} more of this kind.`
  return `   ${level === 'high' ? 'Risk' : 'Note'}: ${plain(`${place}: ${text}${rest}`)}`
}

/** Returns the files with the lines that are new in them. */
function placesOf(hunks: Chapter['hunks']): readonly string[] {
  return [...Map.groupBy(hunks, ({ path }) => path)].map(([path, some]) => {
    const lines = some.flatMap(({ cause, new: [start, count] }) => {
      if (cause !== 'lines') return [cause]
      return [count > 1 ? `${start}-${start + count - 1}` : `${start}`]
    })
    return `${path}: ${lines.join(', ')}`
  })
}
