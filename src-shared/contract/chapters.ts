import { z } from 'zod'
import { shownName } from './shown-name.ts'

export const chapterKinds = [
  'core',
  'tests',
  'moved',
  'renamed',
  'formatted',
  'generated',
  'dependencies',
  'other',
] as const

export const hunkCauses = ['lines', 'binary', 'mode', 'rename', 'empty', 'submodule', 'large'] as const

export const riskKinds = [
  'conflict_markers',
  'secret',
  'hidden_text',
  'dynamic_code',
  'install_script',
  'agent_files',
  'ci',
  'attributes',
  'tests_removed',
  'tests_skipped',
  'assertions',
  'checks',
  'dependency',
  'migration',
  'executable',
  'binary',
  'large',
  'ignored_needed',
  'risky_path',
] as const

const Span = z.tuple([z.int(), z.int()])

const ChapterHunk = z.object({
  id: z.string().describe('Stays the same while path, modes and the changed lines do.'),
  path: z.string(),
  cause: z.enum(hunkCauses).describe('What changes: lines, or what has none.'),
  old: Span.describe('First line and number of lines in the base; without lines, the line before.'),
  new: Span.describe('The same in the work.'),
  kind: z.enum(chapterKinds),
  from: z
    .object({ path: z.string(), line: z.int() })
    .nullable()
    .describe('Where moved lines were in the base; null where they left, and for all others.'),
  viewed: z.boolean().describe('The caller has marked it or its file as it is.'),
})

export const Chapter = z.object({
  id: z.string(),
  title: z.string(),
  why: z.string(),
  kind: z.enum(chapterKinds),
  folded: z.boolean().describe('It is proven that nothing in it needs to be read.'),
  hunks: z.array(ChapterHunk),
  packages: z
    .array(z.object({ name: z.string(), from: z.string().nullable(), to: z.string().nullable() }))
    .optional()
    .describe('Of a lock file, the packages whose version changes; null on a side without the package.'),
})
export type Chapter = z.infer<typeof Chapter>

export const ChapterRisk = z.object({
  kind: z.enum(riskKinds),
  level: z.enum(['high', 'low']),
  text: z.string(),
  path: z.string(),
  line: z.int().nullable(),
  hunk: z.string(),
  more: z.int().optional().describe('On the last of 50 risks of a kind: how many more there are.'),
})
export type ChapterRisk = z.infer<typeof ChapterRisk>

const RejectedChapters = z.object({
  by: z.string(),
  missing: z.int().describe('Hunks in none of its chapters.'),
  duplicate: z.int().describe('Hunks that it named more than once.'),
  unknown: z.int().describe('Names in it that are no hunk.'),
})
export type RejectedChapters = z.infer<typeof RejectedChapters>

/** A line of text as it was meant: titles have no breaks. */
const title = shownName()
  .overwrite((text) => text.replaceAll(/\s+/g, ' '))
  .min(1)
  .max(120)

export const ProposedChapter = z.object({
  title: title.describe('Text, not markup.'),
  why: shownName().max(600).describe('What its reader should know first. Text, not markup.'),
  hunks: z.array(z.string().max(100)).max(200_000).describe('Ids of hunks, in the order to read them.'),
})
export type ProposedChapter = z.infer<typeof ProposedChapter>

/** More chapters than people read. */
export const maxProposedChapters = 1_000

export const Chapters = z
  .object({
    tree: z.string().nullable().describe('The tree of all work, as in the diff; null where there is no branch yet.'),
    source: z
      .enum(['rules', 'agent', 'files'])
      .describe(
        '`agent`: titles, reasons and order are the words of `by`. `files`: by file alone, because no ' +
          'rules have been applied.',
      ),
    pending: z.boolean().describe('The rules are being applied; `chapters.updated` tells of the end.'),
    by: z.string().nullable().describe('Who proposed these chapters; null for those of the rules.'),
    chapters: z.array(Chapter).describe('Each hunk of the branch’s changes is in exactly one.'),
    risks: z.array(ChapterRisk),
    rejected: RejectedChapters.nullable().describe('The last proposal for this tree, if it was not taken.'),
  })
  .meta({ id: 'Chapters' })
export type Chapters = z.infer<typeof Chapters>
