import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Chapter, ChapterRisk, Chapters } from '../../../src-shared/contract/chapters.ts'
import { addClientCommand, runCommand, type CommandContext, type CommonOptions } from '../command-context.ts'
import { findTask } from '../find.ts'
import { plain } from '../output.ts'

const askAgainMs = 500
/** The rules of a large change take seconds; later its files are shown. */
const maxWaitMs = 60_000

/** Adds `svc task chapters`. */
export function addTaskChapters(task: Command): void {
  addClientCommand(task, {
    usage: 'chapters <task>',
    summary: 'show what a task has changed as chapters in the order to read them, and what to look at closely',
    examples: ['svc task chapters SHO-42', 'svc task chapters SHO-42 --json'],
  }).action((ref: string, options: CommonOptions) => runCommand(options, (scene) => show(scene, ref)))
}

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

function describe({ chapters, risks }: Chapters): string {
  if (chapters.length === 0) return 'The branch has no changes.'
  const parts = chapters.map((chapter, at) => describeChapter(chapter, at + 1, risks))
  return parts.join('\n\n')
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
