import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { problemIn, problemOf, spell, type NamedTest } from '../helpers/named-test.ts'
import { projectRoot } from '../helpers/project-root.ts'

/** A test as test/conformance cites it: its file below test/, a colon, and its name in the source. */
const proof = z.string().transform((spelled, context): NamedTest => {
  const [, path, name] = /^(\S+?\.ts): (.+)$/.exec(spelled) ?? []
  if (path !== undefined && name !== undefined) return { path, name }
  context.addIssue(`“${spelled}” is no “file: name”`)
  return z.NEVER
})
const statement = z.strictObject({ says: z.string().min(1), tests: z.array(proof) })
const sections = z.array(z.strictObject({ section: z.string().min(1), statements: z.array(statement).min(1) }))

const documents = [
  { title: 'The interface', file: 'interface.yml' },
  { title: 'The decisions', file: 'decisions.yml' },
  { title: 'The desktop app', file: 'desktop-app.yml' },
].map(({ title, file }) => {
  const text = readFileSync(join(projectRoot, 'test', 'conformance', file), 'utf8')
  return { title, sections: sections.parse(parse(text)) }
})
const statements = documents.flatMap((one) => one.sections.flatMap((section) => section.statements))

test('names a test for every statement, once', () => {
  expect(statements.filter(({ tests }) => tests.length === 0).map(({ says }) => says)).toEqual([])
  const repeated = documents.flatMap(({ title, sections }) =>
    sections.flatMap(({ section, statements }) =>
      statements
        .filter(({ says }, at) => statements.findIndex((one) => one.says === says) !== at)
        .map(({ says }) => `${title}, ${section}: ${says}`),
    ),
  )
  expect(repeated).toEqual([])
})

test('names only tests that exist and run', () => {
  expect(statements.flatMap(({ tests }) => tests).flatMap((one) => problemOf(one) ?? [])).toEqual([])
})

test('does not count a skipped test, or one within a skipped suite', () => {
  // Assembled here, so that this file contains no skipped test itself.
  const off = ['sk', 'ip'].join('')
  const text = `describe('on', () => {
  test('runs', () => {})
  test.${off}('rests', () => {})
  describe.${off}('off', () => {
    test('sleeps', () => {})
  })
  test.runIf(linux)('may run', () => {})
})
describe.${off}.each([1])('all off', () => {
  describe('in it', () => {
    test('sleeps deeper', () => {})
  })
})
test('runs at last', () => {})
`
  const problems = ['runs', 'rests', 'sleeps', 'may run', 'sleeps deeper', 'runs at last', 'gone'].map((name) => [
    name,
    problemIn(text, { path: 'a.test.ts', name }),
  ])
  expect(Object.fromEntries(problems)).toEqual({
    runs: null,
    rests: '“rests” in test/a.test.ts does not run',
    sleeps: '“sleeps” in test/a.test.ts does not run',
    'may run': null,
    'sleeps deeper': '“sleeps deeper” in test/a.test.ts does not run',
    'runs at last': null,
    gone: 'test/a.test.ts has no test “gone”',
  })
})

/** UPDATE_DOCS=1 rewrites the page. */
test('has a README.md as the files beside it say', () => {
  const file = join(projectRoot, 'test', 'conformance', 'README.md')
  const page = [
    '# Conformance',
    'What the specification says, statement by statement, and the tests that prove that Copse does it. Paths are below `test/`. The page is generated from the YAML files beside it (`UPDATE_DOCS=1` writes it); `architecture/conformance.test.ts` checks that every test named here exists and runs.',
    '<!-- prettier-ignore-start -->',
    ...documents.flatMap(({ title, sections }) => [
      `## ${title}`,
      ...sections.flatMap(({ section, statements }) => [
        `### ${section}`,
        [
          '| Statement | Tests |',
          '| --- | --- |',
          ...statements.map(({ says, tests }) => `| ${cell(says)} | ${tests.map(spell).map(cell).join('<br>')} |`),
        ].join('\n'),
      ]),
    ]),
    '<!-- prettier-ignore-end -->\n',
  ].join('\n\n')
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(file, page)
  else expect(readFileSync(file, 'utf8')).toBe(page)
})

/** Escapes every character that Markdown would interpret. */
const cell = (text: string): string => text.trim().replace(/[|<*\\]/g, '\\$&')
