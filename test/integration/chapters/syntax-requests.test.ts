import { afterAll, expect, test } from 'vitest'
import { createSyntaxReader } from '../../../src-main/chapters/syntax/create-syntax-reader.ts'
import { buildChapters } from '../../../src-main/chapters/rules/build-chapters.ts'
import type { ChangedSource } from '../../../src-main/chapters/rules/facts.ts'
import { renameCandidates } from '../../../src-main/chapters/rules/find-renames.ts'
import { syntaxRequests } from '../../../src-main/chapters/rules/syntax-requests.ts'
import type { SyntaxRequest } from '../../../src-main/chapters/rules/syntax.ts'
import { factsOf, type FileSides } from '../../helpers/change-facts.ts'
import { seededRandom } from '../../helpers/seeded-random.ts'
import { sweep } from '../../helpers/sweep.ts'

const reader = createSyntaxReader({ workers: 2 })
afterAll(() => reader.close())
const never = { signal: new AbortController().signal }

/** All that could be asked of a change. */
const whole = (files: readonly ChangedSource[]): readonly SyntaxRequest[] =>
  files
    .map(({ path, old_text, new_text, hunks }) => ({ path, old_text, new_text, hunks, has_old: true }))
    .filter(({ hunks }) => hunks.some(({ cause }) => cause === 'lines'))

async function chaptersOf(files: Readonly<Record<string, FileSides>>, requests: typeof whole) {
  const facts = factsOf(files, { hasGrammar: reader.hasGrammar })
  const read = await reader.read(requests(facts.files), never)
  const syntax = new Map([...read.values()].flat().map((hunk) => [hunk.id, hunk]))
  // The base has none of the names that the changes give.
  expect(renameCandidates(syntax.values()).length).toBeLessThan(50)
  return buildChapters({ ...facts, syntax }).chapters.map(({ title, kind, folded, hunks }) => ({
    title,
    kind,
    folded,
    hunks: hunks.map(({ hunk, from }) => [hunk.id, from]),
  }))
}

const random = seededRandom(4_949)
const names = ['load', 'store', 'verify', 'parse']
const functionOf = (name: string, call: string): readonly string[] => [
  `export function ${name}(items: string) {`,
  `  const first = items.trim()`,
  `  if (!${call}(first)) throw new Error('${name}')`,
  `  return first`,
  '}',
]
const fileOf = (at: number): string[] => {
  const functions = Array.from({ length: 4 }, (_, number) =>
    functionOf(`${random.pick(names)}${at}${number}`, random.pick(names)),
  )
  const [method = [], ...others] = functions
  const methods = method.map((line) => `  ${line.replace('export function ', '')}`)
  return [`export class Part${at} {`, ...methods, '}', ...others.flat()]
}

/** Edits of the kinds that may be folded, and of those that only look so. */
const edits: readonly ((files: string[][]) => void)[] = [
  (files) => {
    const [from, to] = [random.pick(names), `new${random.pick(names)}`]
    const word = new RegExp(`\\b${from}\\d*\\b`, 'g')
    for (const [at, lines] of files.entries())
      if (random.chance(0.8)) files[at] = lines.map((one) => one.replace(word, to))
  },
  (files) => {
    const [from, to] = [random.pick(files), random.pick(files)]
    const at = Math.floor(random.between(0, from.length))
    const block = from.splice(at, Math.floor(random.between(1, 6)))
    to.splice(Math.floor(random.between(0, to.length)), 0, ...block)
  },
  (files) => {
    const lines = random.pick(files)
    for (const [at, line] of lines.entries()) if (random.chance(0.3)) lines[at] = line.replace(/^ {2}/, '    ')
  },
  (files) => {
    const lines = random.pick(files)
    lines.splice(
      Math.floor(random.between(0, lines.length)),
      random.chance(0.5) ? 1 : 0,
      `log(${random.pick(names)}(1))`,
    )
  },
  (files) => {
    random.pick(files).push(...functionOf(`more${Math.floor(random.between(0, 99))}`, random.pick(names)))
  },
]

const cases = Array.from({ length: 200 }, () => {
  const before = Array.from({ length: 4 }, (_, at) => fileOf(at))
  const after = before.map((lines) => [...lines])
  for (let left = Math.floor(random.between(1, 4)); left > 0; left -= 1) random.pick(edits)(after)
  const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')
  return Object.fromEntries(
    before.map((lines, at) => [`src/f${at}.ts`, { before: text(lines), after: text(after[at] ?? []) }]),
  )
})

test('folds the same, and orders nearly all the same, though what folds nothing is hardly read', async () => {
  const foldedOf = (told: Awaited<ReturnType<typeof chaptersOf>>) => told.filter((chapter) => chapter.folded)
  let [folded, same, count] = [0, 0, 0]
  let left = 0
  for (const files of sweep(cases)) {
    const all = await chaptersOf(files, whole)
    const told = await chaptersOf(files, syntaxRequests)
    expect(foldedOf(told), JSON.stringify(files)).toEqual(foldedOf(all))
    folded += foldedOf(all).length
    // Where brackets don't close, a part of a text has other definitions than the whole.
    count += 1
    if (JSON.stringify(told) === JSON.stringify(all)) same += 1
    left += syntaxRequests(factsOf(files).files).filter(({ has_old }) => !has_old).length
  }
  expect(same).toBeGreaterThan(count * 0.9)
  // Both matter: what is folded, and what is left out.
  expect(folded).toBeGreaterThan(10)
  expect(left).toBeGreaterThan(10)
})

test('asks nothing of files that are deleted, generated or lock files, or only lose lines', () => {
  const change = { before: 'const a = 1\n', after: 'const b = 2, c = 3\n' }
  const asked = syntaxRequests(
    factsOf({
      'gone.ts': { before: 'a()\n', after: null },
      'gen.ts': { ...change, is_generated: true },
      'yarn.lock': change,
      'less.ts': { before: 'a()\nb()\n', after: 'a()\n' },
      'more.ts': change,
      'new.ts': { before: null, after: 'a()\n' },
    }).files,
  )
  expect(asked.map(({ path, old_text, has_old }) => [path, old_text, has_old])).toEqual([
    ['more.ts', null, false],
    ['new.ts', null, true],
  ])
})
