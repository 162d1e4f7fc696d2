import type { ClassifiedHunk, HunkKind } from './classify.ts'
import { classifyHunks } from './classify.ts'
import { describeChapter } from './describe-chapter.ts'
import { sizeOf, type ChangeFacts } from './facts.ts'
import { isTestFile } from './file-kinds.ts'
import { changedPackages, isReadLock, type PackageChange } from './lock-packages.ts'
import { connectedFiles, orderByNeed, relateFiles, type Relations } from './related-files.ts'
import { findRisks, type Risk } from './risks/find-risks.ts'

/** Hunks that are read together. */
export interface Chapter {
  /** Id of its first hunk. */
  readonly id: string
  readonly title: string
  readonly why: string
  readonly kind: HunkKind
  readonly folded: boolean
  readonly hunks: readonly ClassifiedHunk[]
  readonly packages: readonly PackageChange[] | null
}

/** A change as chapters, in the order to read them. */
export interface ChaptersByRules {
  readonly chapters: readonly Chapter[]
  readonly risks: readonly Risk[]
}

/** Version of the rules: chapters of other versions are computed again. */
export const rulesVersion = 1
const maxLines = 400
const foldedKinds = ['moved', 'renamed', 'formatted', 'generated'] as const

/** Hunks of some files that are read one after the other, and may be several chapters. */
interface Section {
  readonly kind: HunkKind
  readonly folded: boolean
  readonly files: readonly FileHunksRead[]
  /** Tests of the section before. */
  readonly is_tests_of?: boolean
}

interface FileHunksRead {
  readonly path: string
  readonly hunks: readonly ClassifiedHunk[]
}

/**
 * Divides a change into chapters: what others depend on first, then its tests; of equals those with risks first; what
 * is folded last. A chapter has at most 400 lines, or one hunk.
 */
export function buildChapters(facts: ChangeFacts): ChaptersByRules {
  const risks = findRisks(facts)
  const ranks = new Map<string, number>()
  for (const { hunk, level } of risks) {
    ranks.set(hunk, Math.min(ranks.get(hunk) ?? 2, level === 'high' ? 0 : 1))
  }
  const all = classifyHunks(facts, new Set(ranks.keys()))
  const rankOfHunks = (hunks: readonly ClassifiedHunk[]): number =>
    hunks.reduce((least, { hunk }) => Math.min(least, ranks.get(hunk.id) ?? 2), 2)
  const rankOf = (files: readonly FileHunksRead[]): number =>
    files.reduce((least, { hunks }) => Math.min(least, rankOfHunks(hunks)), 2)
  const read = byFile(all.filter(({ is_folded }) => !is_folded))
  const relations = relateFiles(
    read.map(({ path, hunks }) => ({ path, hunks: hunks.map(({ hunk }) => hunk) })),
    facts.syntax,
  )
  const sections = [...readSections(read, relations, rankOf), ...foldedSections(all)]
  const packagesOf = (hunks: readonly ClassifiedHunk[]): readonly PackageChange[] => {
    const locks = new Set(hunks.flatMap(({ hunk }) => (isReadLock(hunk.path) ? [hunk.path] : [])))
    return locks.size === 0 ? [] : changedPackages(facts.files.filter(({ path }) => locks.has(path)))
  }
  const chapters = sections.flatMap((section) =>
    pack(section).map((hunks): Chapter => {
      const { kind, folded } = section
      const isAboutPackages = kind === 'dependencies' || kind === 'generated'
      const packages = isAboutPackages ? packagesOf(hunks) : []
      return {
        id: hunks[0]?.hunk.id ?? '',
        ...describeChapter({ kind, hunks, relations, is_tests_of: section.is_tests_of === true }),
        kind,
        folded,
        hunks,
        packages: packages.length > 0 ? packages : null,
      }
    }),
  )
  return { chapters, risks }
}

function byFile(hunks: readonly ClassifiedHunk[]): readonly FileHunksRead[] {
  const files = Map.groupBy(hunks, ({ hunk }) => hunk.path)
  return [...files].map(([path, found]) => ({ path, hunks: found }))
}

function readSections(
  read: readonly FileHunksRead[],
  relations: Relations,
  rankOf: (files: readonly FileHunksRead[]) => number,
): readonly Section[] {
  const files = new Map(read.map((file) => [file.path, file]))
  const pick = (paths: readonly string[]): readonly FileHunksRead[] => paths.flatMap((path) => files.get(path) ?? [])
  const kindOf = ({ hunks }: FileHunksRead): HunkKind => hunks[0]?.kind ?? 'other'
  const core = read.filter((file) => kindOf(file) === 'core').map(({ path }) => path)
  const sets = connectedFiles(core, relations)
  const connected = sets.filter((set) => set.length > 1)
  const apart = sets.filter((set) => set.length === 1).flat()
  const rest = read.filter((file) => kindOf(file) !== 'core' && kindOf(file) !== 'tests')
  const order = (paths: readonly string[]): readonly string[] =>
    orderByNeed(paths, relations, (path) => rankOf(pick([path])))
  const sections: Section[] = [
    ...connected.map((set) => ({ kind: 'core' as const, folded: false, files: pick(order(set)) })),
    ...byFolder(pick(apart), rankOf).map((group) => ({ kind: 'core' as const, folded: false, files: group })),
    ...byFolder(
      rest.filter((file) => kindOf(file) === 'dependencies'),
      rankOf,
    ).map((group) => ({
      kind: 'dependencies' as const,
      folded: false,
      files: group,
    })),
    ...byFolder(
      rest.filter((file) => kindOf(file) === 'other'),
      rankOf,
    ).map((group) => ({
      kind: 'other' as const,
      folded: false,
      files: group,
    })),
  ]
  const tests = read.filter((file) => kindOf(file) === 'tests')
  return withTests(sections.toSorted(inReadingOrder(rankOf)), tests, relations, rankOf)
}

const kindRank: Readonly<Record<HunkKind, number>> = {
  core: 0,
  dependencies: 1,
  other: 2,
  tests: 3,
  moved: 4,
  renamed: 5,
  formatted: 6,
  generated: 7,
}

function inReadingOrder(rankOf: (files: readonly FileHunksRead[]) => number) {
  return (one: Section, other: Section): number =>
    rankOf(one.files) - rankOf(other.files) ||
    kindRank[one.kind] - kindRank[other.kind] ||
    other.files.length - one.files.length ||
    ((one.files[0]?.path ?? '') < (other.files[0]?.path ?? '') ? -1 : 1)
}

/** Groups files by folder, those with a risk of their own apart, so that they don't wait for the others. */
function byFolder(
  files: readonly FileHunksRead[],
  rankOf: (files: readonly FileHunksRead[]) => number,
): readonly (readonly FileHunksRead[])[] {
  const keyOf = (file: FileHunksRead): string =>
    `${rankOf([file])} ${file.path.slice(0, file.path.lastIndexOf('/') + 1)}`
  return [...Map.groupBy(files, keyOf).values()]
}

/** Puts each test after the section that it tests: by what it uses, else by its name; the others at the end. */
function withTests(
  sections: readonly Section[],
  tests: readonly FileHunksRead[],
  { needs }: Relations,
  rankOf: (files: readonly FileHunksRead[]) => number,
): readonly Section[] {
  const sectionOf = new Map(sections.flatMap((section) => section.files.map(({ path }) => [path, section] as const)))
  const byName = new Map([...sectionOf].map(([path, section]) => [stemOf(path), section]))
  const testsOf = new Map<Section | null, FileHunksRead[]>()
  for (const test of tests) {
    const used = [...(needs.get(test.path) ?? [])].flatMap((path) => sectionOf.get(path) ?? [])
    const section = used[0] ?? byName.get(stemOf(test.path)) ?? null
    testsOf.set(section, [...(testsOf.get(section) ?? []), test])
  }
  const asSections = (files: readonly FileHunksRead[], is_tests_of: boolean): readonly Section[] =>
    byFolder(files, rankOf)
      .map((group): Section => ({ kind: 'tests', folded: false, files: group, is_tests_of }))
      .toSorted(inReadingOrder(rankOf))
  return [
    ...sections.flatMap((section) => [section, ...asSections(testsOf.get(section) ?? [], true)]),
    ...asSections(testsOf.get(null) ?? [], false),
  ]
}

/** Returns a file's name without its ending and without what makes it a test's. */
function stemOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.[^.]+$/, '')
  return isTestFile(path) ? name.replace(/^test_|[._-](?:test|tests|spec|e2e)$|(?:Test|Tests|IT|Spec)$/g, '') : name
}

function foldedSections(all: readonly ClassifiedHunk[]): readonly Section[] {
  return foldedKinds.flatMap((kind) => {
    const files = byFile(all.filter((one) => one.is_folded && one.kind === kind))
    return files.length > 0 ? [{ kind, folded: true, files }] : []
  })
}

/** Divides a section into chapters: files stay together as long as they fit. */
function pack({ files }: Section): readonly (readonly ClassifiedHunk[])[] {
  const chapters: ClassifiedHunk[][] = []
  let current: ClassifiedHunk[] = []
  let lines = 0
  const close = (): void => {
    if (current.length > 0) chapters.push(current)
    current = []
    lines = 0
  }
  const linesOf = (hunks: readonly ClassifiedHunk[]): number => hunks.reduce((sum, { hunk }) => sum + sizeOf(hunk), 0)
  for (const { hunks } of files) {
    const fits = lines + linesOf(hunks) <= maxLines
    // A file that fits into a chapter of its own is not cut.
    if (!fits && linesOf(hunks) <= maxLines) close()
    for (const one of hunks) {
      if (lines > 0 && lines + sizeOf(one.hunk) > maxLines) close()
      current.push(one)
      lines += sizeOf(one.hunk)
    }
  }
  close()
  return chapters
}
