import { rename, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createSyntaxReader } from '../../../src-main/chapters/syntax/create-syntax-reader.ts'
import type { ChaptersByRules } from '../../../src-main/chapters/rules/build-chapters.ts'
import type { WorkspaceFixture } from '../git/workspace-fixture.ts'
import { tellFixture, withWorktree } from './tell-fixture.ts'

const syntax = createSyntaxReader()
afterAll(() => syntax.close())
const tell = (fixture: WorkspaceFixture) => tellFixture(fixture, syntax)

/** What is folded: kind, and path with the first changed line of each hunk. */
const folded = ({ chapters }: ChaptersByRules): readonly string[] =>
  chapters
    .filter((chapter) => chapter.folded)
    .flatMap(({ kind, hunks }) =>
      hunks.map(({ hunk }) => `${kind} ${hunk.path}: ${(hunk.added[0] ?? hunk.removed[0] ?? '').trim()}`),
    )

const helper =
  'export function total(items: readonly number[]): number {\n  let sum = 0\n  for (const item of items) sum += item\n  return sum\n}\n'

test('folds a block that moves to another file, with where it was, but not one with an edited line', async () => {
  const other = helper.replace('total', 'count').replace('+= item', '+= 1')
  await using fixture = await withWorktree({ 'a.ts': `const a = 1\n${helper}const b = 2\n${other}`, 'b.ts': '// b\n' })
  const write = (moved: string) =>
    fixture.repository.write({ 'a.ts': `const a = 1\nconst b = 2\n${other}`, 'b.ts': `// b\n${moved}` }, fixture.path)
  await write(helper)
  const told = await tell(fixture)
  expect(folded(told)).toEqual([
    'moved a.ts: export function total(items: readonly number[]): number {',
    'moved b.ts: export function total(items: readonly number[]): number {',
  ])
  expect(told.chapters[0]?.hunks.map(({ from }) => from)).toEqual([null, { path: 'a.ts', line: 2 }])
  await write(helper.replace('sum += item', 'sum -= item'))
  expect(folded(await tell(fixture))).toEqual([])
})

test('folds nothing that moves within one symbol, and short blocks only if they are the only ones', async () => {
  const body = (first: string, second: string): string => `function run() {\n${first}  const x = 0\n${second}}\n`
  const check = '  if (!isAllowed(user)) throw new Error()\n'
  await using fixture = await withWorktree({ 'a.ts': body(check, ''), 'b.ts': 'launch()\nlast()\n', 'c.ts': 'x()\n' })
  await fixture.repository.write(
    { 'a.ts': body('', check), 'b.ts': 'last()\n', 'c.ts': 'x()\nlaunch()\n' },
    fixture.path,
  )
  expect(folded(await tell(fixture))).toEqual(['moved b.ts: launch()', 'moved c.ts: launch()'])
  await fixture.repository.write({ 'd.ts': 'launch()\n' }, fixture.path)
  expect(folded(await tell(fixture))).toEqual([])
})

test('takes no keyword, and nothing in a lock file, for what has moved', async () => {
  await using fixture = await withWorktree({
    'a.ts': 'for (;;) {\n  break\n}\n',
    'b.ts': 'b()\n',
    'word.txt': 'leftpad\n',
    'yarn.lock': '',
  })
  await fixture.repository.write(
    { 'a.ts': 'for (;;) {\n}\n', 'b.ts': 'b()\nbreak\n', 'word.txt': '', 'yarn.lock': 'leftpad\n' },
    fixture.path,
  )
  expect(folded(await tell(fixture))).toEqual(['generated yarn.lock: leftpad'])
})

test('does not take a check that becomes text, or a part of a test, for moved', async () => {
  const check = "if (!isAdmin(user)) throw new Error('forbidden')\n"
  await using fixture = await withWorktree({
    'a.ts': `a()\n${check}`,
    'b.md': 'b\n',
    'a.test.ts': 'b()\n',
    'c.ts': 'c()\n',
  })
  for (const [path, before, isMoved] of [
    ['b.md', 'b\n', false],
    ['a.test.ts', 'b()\n', false],
    ['c.ts', 'c()\n', true],
  ] as const) {
    await fixture.repository.write({ 'a.ts': 'a()\n', [path]: `${before}${check}` }, fixture.path)
    expect(folded(await tell(fixture)).length > 0, path).toBe(isMoved)
    await fixture.repository.write({ [path]: before }, fixture.path)
  }
})

test('does not fold a Python statement that moves into a condition, though git sees no change but white space', async () => {
  await using fixture = await withWorktree({ 'a.py': 'if a:\n    g()\nh()\n', 'b.py': 'f(a,b)\n' })
  await fixture.repository.write({ 'a.py': 'if a:\n    g()\n    h()\n', 'b.py': 'f(a, b)\n' }, fixture.path)
  expect(folded(await tell(fixture))).toEqual(['formatted b.py: f(a, b)'])
})

test('folds a new name in many files, but not the line that does more, nor a name that the base has', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 30 }, (_, at) => [
      `use${at}.ts`,
      `import { verify } from './auth'\nif (!verify(${at})) fail()\n`,
    ]),
  )
  const auth = 'export function verify(id: number): boolean {\n  return known.has(id)\n}\n'
  await using fixture = await withWorktree({ ...files, 'auth.ts': auth, 'notes.txt': 'taken permitted\n' })
  const renameTo = async (name: string): Promise<ChaptersByRules> => {
    const now = Object.entries({ ...files, 'auth.ts': auth }).map(([path, text]) => [
      path,
      text.replaceAll('verify', name),
    ])
    await fixture.repository.write(Object.fromEntries(now) as Record<string, string>, fixture.path)
    await fixture.repository.write(
      { 'use7.ts': `import { ${name} } from './auth'\nif (${name}(7)) fail()\n` },
      fixture.path,
    )
    return await tell(fixture)
  }
  const told = await renameTo('allow')
  expect(told.chapters.filter((one) => !one.folded).map(({ hunks }) => hunks.map(({ hunk }) => hunk.path))).toEqual([
    ['use7.ts'],
  ])
  expect(folded(told)).toHaveLength(30)
  expect(folded(await renameTo('permitted'))).toEqual([])
})

test('does not take for a new name what another definition gives', async () => {
  const use = (name: string): string => `if (!${name}(1)) fail()\n`
  const auth = 'export function verify(id: number) {\n  return known.has(id)\n}\n'
  await using fixture = await withWorktree({ 'use.ts': use('verify'), 'auth.ts': auth })
  await fixture.repository.write(
    { 'use.ts': use('allow'), 'auth.ts': `${auth}export const allow = () => true\n` },
    fixture.path,
  )
  expect(folded(await tell(fixture))).toEqual([])
  // Without any definition here the name may be another function of a library.
  await fixture.repository.write({ 'auth.ts': auth }, fixture.path)
  expect(folded(await tell(fixture))).toEqual([])
})

test('believes the attributes of the base alone, at the place where a file was', async () => {
  const files = {
    '.gitattributes': 'gen/** linguist-generated\n',
    'gen/a.ts': 'a()\n',
    'src/b.ts': `${helper}b()\n`,
    'src/c.ts': 'c()\n',
  }
  await using fixture = await withWorktree(files)
  await fixture.repository.write(
    {
      '.gitattributes': '* linguist-generated\n',
      'gen/a.ts': 'a2()\n',
      'src/c.ts': '// Code generated. DO NOT EDIT.\nc2()\n',
    },
    fixture.path,
  )
  await mkdir(join(fixture.path, 'gen'), { recursive: true })
  await rename(join(fixture.path, 'src/b.ts'), join(fixture.path, 'gen/b.ts'))
  await writeFile(join(fixture.path, 'gen/b.ts'), `${helper}b2()\n`)
  const told = await tell(fixture)
  expect(folded(told)).toEqual(['generated gen/a.ts: a2()'])
  expect(told.risks.map(({ kind, path, level }) => [kind, path, level])).toEqual([
    ['attributes', '.gitattributes', 'high'],
  ])
})

test('orders a feature: what others use, its users, its tests', async () => {
  await using fixture = await withWorktree({ 'src/api.ts': 'export const api = 1\n', 'README.md': 'a\n' })
  await fixture.repository.write(
    {
      'src/api.ts': "import { createStore } from './store.ts'\nexport const api = createStore()\n",
      'src/store.ts': 'export function createStore() {\n  return new Map()\n}\n',
      'test/store.test.ts': "test('a', () => {\n  expect(createStore()).toBeDefined()\n})\n",
      'README.md': 'b\n',
    },
    fixture.path,
  )
  const { chapters, risks } = await tell(fixture)
  expect(chapters.map(({ title, why, hunks }) => [title, why, hunks.map(({ hunk }) => hunk.path)])).toEqual([
    ['createStore, api in 2 files in src', 'Later chapters use what this one defines.', ['src/store.ts', 'src/api.ts']],
    ['Tests: test/store.test.ts', 'Tests of the chapters before.', ['test/store.test.ts']],
    ['Other files: README.md', 'Neither code nor tests.', ['README.md']],
  ])
  expect(risks).toEqual([])
})

test('names what changed lines need and git ignores, but not what lies beside a file that git has', async () => {
  await using fixture = await withWorktree({
    '.gitignore': 'local.*\n/dist\n*.js\nsecrets/\n',
    'src/a.ts': 'a()\n',
    'src/both.ts': 'export const b = 1\n',
    'lib/b.py': 'b = 1\n',
  })
  await fixture.repository.write(
    {
      'src/local.ts': 'export const key = 1\n',
      'src/both.js': 'exports.b = 1\n',
      'dist/out.js': 'out()\n',
      'lib/local.py': 'key = 1\n',
      'secrets/data/one.csv': '1\n',
      'src/fresh.ts': 'export const fresh = 1\n',
      'src/a.ts': [
        "import { key } from './local'",
        "import { b } from './both.js'",
        "import { fresh } from './fresh.ts'",
        "import { gone } from './not-there.js'",
        "import { out } from '../dist/out.js'",
        "const data = read('../secrets/data/one.csv')",
        "const other = read('../../outside/local.ts')",
        `const long = '${'x'.repeat(600)}.csv'`,
        'a()\n',
      ].join('\n'),
      'lib/b.py': 'from .local import key\nb = 1\n',
    },
    fixture.path,
  )
  const { risks } = await tell(fixture)
  const found = risks.filter(({ kind }) => kind === 'ignored_needed')
  expect(found.map(({ level, path, line, text }) => [level, path, line, text])).toEqual([
    ['high', 'lib/b.py', 1, 'It imports “.local”, which git ignores, so nothing but this worktree has it.'],
    ['high', 'src/a.ts', 1, 'It imports “./local”, which git ignores, so nothing but this worktree has it.'],
    ['low', 'src/a.ts', 5, 'It imports “../dist/out.js” from a folder that git ignores.'],
  ])
})
