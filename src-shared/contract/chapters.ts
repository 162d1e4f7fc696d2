import { z } from 'zod'

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
  viewed: z.boolean().describe('The caller has marked its file, and the content is still what it was then.'),
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

export const Chapters = z
  .object({
    tree: z.string().nullable().describe('The tree of all work, as in the diff; null where there is no branch yet.'),
    source: z.enum(['rules', 'files']).describe('`files`: by file alone, because no rules have been applied.'),
    pending: z.boolean().describe('The rules are being applied; `chapters.updated` tells of the end.'),
    chapters: z.array(Chapter).describe('Each hunk of the branch’s changes is in exactly one.'),
    risks: z.array(ChapterRisk),
  })
  .meta({ id: 'Chapters' })
export type Chapters = z.infer<typeof Chapters>
