import type { Parser } from 'web-tree-sitter'
import type { LineSpan } from '../rules/hunk.ts'
import { isSpaceOnly } from '../rules/syntax-requests.ts'
import type { HunkSyntax, IdentifierChange, SyntaxHunk, SyntaxRequest } from '../rules/syntax.ts'
import { windowsOf } from './windows.ts'
import { grammarOf } from './grammar-names.ts'
import { parserOf } from './grammars.ts'
import {
  createDeadline,
  describeTree,
  readRange,
  TooSlow,
  withTree,
  type Deadline,
  type Token,
  type TreeRange,
} from './parse.ts'

const maxChars = 1024 * 1024
const maxMs = 200
const nothing: TreeRange = { tokens: [], names: [], around: [] }

/** Returns the hunks of a file as its grammar sees them; null if it has none, or is too large or too slow. */
export async function readSyntax(request: SyntaxRequest): Promise<readonly HunkSyntax[] | null> {
  const grammar = grammarOf(request.path)
  const { old_text, new_text } = request
  if (grammar === null || (old_text?.length ?? 0) > maxChars || (new_text?.length ?? 0) > maxChars) return null
  const parser = await parserOf(grammar)
  const deadline = createDeadline(maxMs)
  try {
    return readHunks(parser, grammar, request, deadline)
  } catch (error) {
    if (error instanceof TooSlow) return null
    throw error
  }
}

interface Side {
  readonly ranges: readonly TreeRange[]
  readonly has_error: boolean
  readonly description: string | null
}

function readHunks(parser: Parser, grammar: string, request: SyntaxRequest, deadline: Deadline) {
  const { hunks } = request
  const couldFormat = hunks.map((hunk) => couldBeFormatting(hunk, grammar, request))
  const isDescribed = couldFormat.includes(true)
  const readSide = (text: string | null, spanOf: (hunk: SyntaxHunk) => LineSpan): Side => {
    // A side without changed lines has nothing to tell but its shape.
    if (text === null || (!isDescribed && hunks.every((hunk) => spanOf(hunk)[1] === 0)))
      return { ranges: hunks.map(() => nothing), has_error: false, description: null }
    // Without the base's side nothing is proven, and only what is around the lines is of interest.
    const windows = request.has_old || grammar === 'php' ? null : windowsOf(text, hunks)
    return withTree(parser, { text, windows }, deadline, (tree) => ({
      ranges: hunks.map((hunk) => {
        const [start, count] = spanOf(hunk)
        return count === 0 ? nothing : readRange(tree, text, [start - 1, start + count - 2], deadline)
      }),
      has_error: tree.rootNode.hasError,
      description: isDescribed ? describeTree(tree, text, deadline) : null,
    }))
  }
  const before = readSide(request.old_text, (hunk) => hunk.old)
  const after = readSide(request.new_text, (hunk) => hunk.new)
  const isSound = !before.has_error && !after.has_error
  const describe = (text: string): string | null =>
    withTree(parser, { text }, deadline, (tree) => describeTree(tree, text, deadline))
  const isFormatting = createFormattingCheck(request, { before, after, couldFormat, describe })
  return hunks.map((hunk, at): HunkSyntax => {
    const [old, now] = [before.ranges[at] ?? nothing, after.ranges[at] ?? nothing]
    return {
      id: hunk.id,
      has_old: request.has_old,
      old_symbol: old.around.join('.') || null,
      new_symbol: now.around.join('.') || null,
      defines: unique(now.names.filter(({ is_local }) => !is_local).map(({ name }) => name)),
      old_names: unique(old.names.map(({ name }) => name)),
      new_names: unique(now.names.map(({ name }) => name)),
      uses: unique(now.tokens.filter(({ type }) => isIdentifier(type)).map(({ text }) => text)),
      is_formatting: isFormatting(hunk, at),
      rename: isSound ? findRename(old.tokens, now.tokens) : null,
    }
  })
}

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)]
const isIdentifier = (type: string): boolean => /identifier$|^constant$/.test(type)

function couldBeFormatting(hunk: SyntaxHunk, grammar: string, { old_text }: SyntaxRequest): boolean {
  if (!isSpaceOnly(hunk)) return false
  const { removed, added } = hunk
  // A shell reads a carriage return as a part of the word, and the system as a part of the interpreter's name.
  const returns = (lines: readonly string[]): number => lines.filter((line) => line.endsWith('\r')).length
  const isStrict = grammar === 'bash' || old_text?.startsWith('#!') === true
  return !isStrict || (returns(removed) === 0 && returns(added) === 0)
}

/**
 * Returns a check whether a hunk leaves tree and tokens as they are: all hunks of the file together, or this one alone
 * in the old text and in the new one.
 */
function createFormattingCheck(
  { hunks, old_text, new_text }: SyntaxRequest,
  sides: {
    readonly before: Side
    readonly after: Side
    readonly couldFormat: readonly boolean[]
    readonly describe: (text: string) => string | null
  },
): (hunk: SyntaxHunk, at: number) => boolean {
  const { before, after, couldFormat, describe } = sides
  if (old_text === null || new_text === null || before.description === null || after.description === null)
    return () => false
  if (couldFormat.every(Boolean) && before.description === after.description) return () => true
  if (hunks.length === 1) return () => false
  const [oldLines, newLines] = [old_text.split('\n'), new_text.split('\n')]
  return (hunk, at) => {
    if (couldFormat[at] !== true) return false
    const applied = replaceLines(oldLines, hunk.old, hunk.added)
    if (describe(applied) !== before.description) return false
    return describe(replaceLines(newLines, hunk.new, hunk.removed)) === after.description
  }
}

function replaceLines(lines: readonly string[], [start, count]: LineSpan, by: readonly string[]): string {
  const from = count === 0 ? start : start - 1
  return [...lines.slice(0, from), ...by, ...lines.slice(from + count)].join('\n')
}

/** Returns the one identifier that a hunk replaces, if nothing else in it differs. */
function findRename(before: readonly Token[], after: readonly Token[]): IdentifierChange | null {
  if (before.length !== after.length) return null
  let found: IdentifierChange | null = null
  for (const [at, old] of before.entries()) {
    const now = after[at]
    if (now === undefined || old.type !== now.type || old.space !== now.space) return null
    if (old.text === now.text) continue
    if (!isIdentifier(old.type) || (found && (found.from !== old.text || found.to !== now.text))) return null
    found = { from: old.text, to: now.text }
  }
  return found === null || before.some(({ text }) => text === found?.to) ? null : found
}
