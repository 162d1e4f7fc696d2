import type { ClassifiedHunk, HunkKind } from './classify.ts'
import type { Relations } from './related-files.ts'

interface Described {
  readonly kind: HunkKind
  readonly hunks: readonly ClassifiedHunk[]
  readonly relations: Relations
  readonly is_tests_of: boolean
}

const maxNames = 3
const maxTitle = 120

/** Returns title and reason of a chapter, in words for people. */
export function describeChapter(chapter: Described): { readonly title: string; readonly why: string } {
  const title = titleOf(chapter)
  return { title: title.length > maxTitle ? `${title.slice(0, maxTitle - 1)}…` : title, why: whyOf(chapter) }
}

function titleOf({ kind, hunks, relations }: Described): string {
  const paths = [...new Set(hunks.map(({ hunk }) => hunk.path))]
  const place = placeOf(paths)
  if (kind !== 'core') return `${labels[kind]}: ${place}`
  const names = [...new Set(paths.flatMap((path) => relations.defines.get(path) ?? []))]
  return names.length === 0 ? place : `${listNames(names)} in ${place}`
}

const labels: Readonly<Record<Exclude<HunkKind, 'core'>, string>> = {
  tests: 'Tests',
  moved: 'Moved',
  renamed: 'Renamed',
  formatted: 'Formatted',
  generated: 'Generated',
  dependencies: 'Dependencies',
  other: 'Other files',
}

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, maxNames).join(', ')
  return names.length > maxNames ? `${shown} and ${names.length - maxNames} more` : shown
}

function placeOf(paths: readonly string[]): string {
  const [first = '', ...others] = paths
  if (others.length === 0) return first
  const folders = paths.map((path) => path.split('/').slice(0, -1))
  let depth = 0
  while (folders.every((parts) => parts[depth] !== undefined && parts[depth] === folders[0]?.[depth])) depth += 1
  const folder = (folders[0] ?? []).slice(0, depth).join('/')
  return folder === '' ? `${first} and ${others.length} more` : `${paths.length} files in ${folder}`
}

function whyOf({ kind, hunks, relations, is_tests_of }: Described): string {
  if (kind === 'tests')
    return is_tests_of ? 'Tests of the chapters before.' : 'Tests of code that this change leaves alone.'
  if (kind !== 'core') return reasons[kind]
  const inside = new Set(hunks.map(({ hunk }) => hunk.path))
  const isNeeded = [...inside].some((path) =>
    [...(relations.needed_by.get(path) ?? [])].some((one) => !inside.has(one)),
  )
  if (isNeeded) return 'Later chapters use what this one defines.'
  if (inside.size > 1) return 'These files use each other, or lie in one folder.'
  return 'No connection to other changes was found.'
}

const reasons: Readonly<Record<Exclude<HunkKind, 'core' | 'tests'>, string>> = {
  moved: 'The same lines in the same order, from another file or symbol of this change.',
  renamed: 'Only a name is different, and the base does not have the new one.',
  formatted: 'Only white space is different: the syntax tree and its tokens are the same.',
  generated: 'Tools write these files: lock files, or what the attributes of the base call generated.',
  dependencies: 'Packages that the project needs.',
  other: 'Neither code nor tests.',
}
