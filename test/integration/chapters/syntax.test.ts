import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createSyntaxReader } from '../../../src-main/chapters/syntax/create-syntax-reader.ts'
import type { HunkSyntax, SyntaxRequest } from '../../../src-main/chapters/rules/syntax.ts'
import { changedFile } from '../../helpers/line-hunks.ts'

const reader = createSyntaxReader()
afterAll(() => reader.close())
const never = { signal: new AbortController().signal }

async function read(path: string, before: string, after: string): Promise<readonly HunkSyntax[]> {
  const found = await reader.read([changedFile(path, before, after)], never)
  return found.get(path) ?? []
}

const added = (path: string, text: string): SyntaxRequest => changedFile(path, '', text)

describe('names what each language defines', () => {
  test.each([
    [
      'a.ts',
      'export function one() {}\ninterface Two {}\ntype Three = 1\nconst four = () => 1\nclass Five { six() {} }\n',
      ['one', 'Two', 'Three', 'four', 'Five', 'six'],
    ],
    ['a.tsx', 'export const Row = () => <td>{cell}</td>\n', ['Row']],
    ['a.js', 'function one() { const inner = 1 }\nclass Two {}\n', ['one', 'Two']],
    [
      'a.py',
      'LIMIT = 3\ndef one():\n    x = 1\nclass Two:\n    def three(self): pass\n',
      ['LIMIT', 'one', 'Two', 'three'],
    ],
    [
      'a.go',
      'package a\nfunc One() {}\ntype Two struct{}\nfunc (t Two) Three() {}\nconst Four = 1\n',
      ['One', 'Two', 'Three', 'Four'],
    ],
    [
      'a.rs',
      'fn one() {}\nstruct Two;\nenum Three {}\ntrait Four {}\nconst FIVE: u8 = 1;\n',
      ['one', 'Two', 'Three', 'Four', 'FIVE'],
    ],
    ['A.java', 'class One { void two() {} }\ninterface Three {}\n', ['One', 'two', 'Three']],
    ['A.cs', 'class One { void Two() {} }\nenum Three {}\n', ['One', 'Two', 'Three']],
    ['a.rb', 'class One\n  def two; end\nend\nmodule Three\nend\n', ['One', 'two', 'Three']],
    ['a.php', '<?php\nfunction one() {}\nclass Two { function three() {} }\n', ['one', 'Two', 'three']],
    ['a.cpp', 'int one() { return 1; }\nclass Two {};\nnamespace three {}\n', ['one', 'Two', 'three']],
    ['a.c', 'int *one(void) { return 0; }\nstruct two { int x; };\n#define THREE 3\n', ['one', 'two', 'THREE']],
    ['a.sh', 'one() { echo; }\n', ['one']],
    ['a.ps1', 'function One { 1 }\n', ['One']],
  ])('%s', async (path, text, names) => {
    const found = await reader.read([added(path, text)], never)
    expect(found.get(path)?.[0]?.defines).toEqual(names)
  })
})

test('names the definition around a change, and what the change uses', async () => {
  const before = 'class Store {\n  get(id) {\n    return 1\n  }\n}\n'
  const [hunk] = await read('a.ts', before, before.replace('return 1', 'return this.rows.find(id)'))
  expect(hunk).toMatchObject({ old_symbol: 'Store.get', new_symbol: 'Store.get', defines: [], is_formatting: false })
  expect(hunk?.uses).toEqual(['rows', 'find', 'id'])
})

describe('takes for formatting only what leaves tree and tokens as they are', () => {
  test.each([
    ['a.ts', 'if (a) { b() }\n', 'if (a) {\n  b()\n}\n', true],
    ['a.ts', 'f(a, b)\n', 'f(\n  a,\n  b\n)\n', true],
    ['a.ts', 'f(a, b)\n', 'f(\n  a,\n  b,\n)\n', false],
    ['a.ts', 'return a\n', 'return\na\n', false],
    ['a.ts', 'const a = `x ${b}  c`\n', 'const a = `x ${b} c`\n', false],
    ['a.ts', "const a = 'x  y'\n", "const a = 'x y'\n", false],
    ['a.ts', '// a  b\n', '// a b\n', false],
    ['a.ts', 'a\n', 'a\n\n\n', true],
    ['a.ts', 'a()\r\n', 'a()\n', true],
    ['a.ts', 'a ( } {\n', 'a( } {\n', false],
    ['a.ts', 'a = b - -c\n', 'a = b --c\n', false],
    ['a.tsx', 'const a = <b>c  d</b>\n', 'const a = <b>c d</b>\n', false],
    ['a.py', 'if a:\n    g()\nh()\n', 'if a:\n    g()\n    h()\n', false],
    ['a.py', 'f(a,b)\n', 'f(a, b)\n', true],
    ['a.py', 'x = """a\n  b"""\n', 'x = """a\n b"""\n', false],
    ['a.go', 'package a\nvar x = `a  b`\n', 'package a\nvar x = `a b`\n', false],
    ['a.rb', 'x = <<~A\n  a  b\nA\n', 'x = <<~A\n  a b\nA\n', false],
    ['a.php', '<p>a  b</p>\n', '<p>a b</p>\n', false],
    ['a.css', 'a .b { color: red }\n', 'a.b { color: red }\n', false],
    ['a.css', 'a{color:red}\n', 'a {\n  color: red\n}\n', true],
    ['a.sh', 'echo "a  b"\n', 'echo "a b"\n', false],
    ['a.sh', 'cat <<X\na  b\nX\n', 'cat <<X\na b\nX\n', false],
    ['a.sh', 'echo a\\ b\n', 'echo a\\  b\n', false],
    ['a.sh', 'run it\n', 'run it\r\n', false],
    ['a.c', '#define A(x) x\n', '#define A (x) x\n', false],
    ['a.rs', 'fn a(){b()}\n', 'fn a() {\n    b()\n}\n', true],
  ])('%s %j → %j: %s', async (path, before, after, isFormatting) => {
    const hunks = await read(path, before, after)
    expect(hunks.length).toBeGreaterThan(0)
    expect(hunks.every((hunk) => hunk.is_formatting)).toBe(isFormatting)
  })

  test('beside a change of the same file, hunk by hunk', async () => {
    const before = 'f(a,b)\ng()\nh()\ni()\nj()\n'
    const after = 'f(a, b)\ng()\nh2()\ni()\nj( )\n'
    expect((await read('a.ts', before, after)).map((hunk) => hunk.is_formatting)).toEqual([true, false, true])
  })
})

test.each([
  ['if (verify(a)) verify(b)', 'if (allow(a)) allow(b)', { from: 'verify', to: 'allow' }],
  ['verify(a, b)', 'allow(b, a)', null],
  ['verify(a)', 'allow(b)', null],
  ['verify(allow)', 'allow(allow)', null],
  ["x('verify')", "x('allow')", null],
  ['!verify(a)', 'allow(a)', null],
  ['verify(a) // verify', 'allow(a) // verify', { from: 'verify', to: 'allow' }],
  ['if (x) verify(a)', 'if (x)  allow(a)', null],
])('finds the one identifier that %j → %j replaces', async (before, after, rename) => {
  expect((await read('a.ts', `${before}\n`, `${after}\n`))[0]?.rename ?? null).toEqual(rename)
})

test('leaves out files without grammar, over a megabyte, and with too much to read', async () => {
  const files = [
    added('a.txt', 'a\n'),
    added('large.ts', `${'x()\n'.repeat(300_000)}`),
    added('brackets.ts', `${'['.repeat(200_000)}\n`),
    added('deep.ts', `${'('.repeat(100_000)}${')'.repeat(100_000)}\n`),
    added('fine.ts', 'const a = 1\n'),
  ]
  const found = await reader.read(files, never)
  expect(found.get('fine.ts')?.[0]?.defines).toEqual(['a'])
  expect([...found.keys()].filter((path) => ['a.txt', 'large.ts', 'deep.ts'].includes(path))).toEqual([])
})

test('replaces a worker that hangs or crashes, and reads the other files', async () => {
  const worker = join(import.meta.dirname, 'failing-syntax-worker.ts')
  const failing = createSyntaxReader({ worker, hungMs: 4_000 })
  try {
    const files = ['one.ts', 'hang.ts', 'two.ts', 'crash.ts', 'three.ts'].map((path) => added(path, 'const a = 1\n'))
    expect([...(await failing.read(files, never)).keys()]).toEqual(['one.ts', 'two.ts', 'three.ts'])
  } finally {
    await failing.close()
  }
})

test('reads again only what has changed since', async () => {
  const once = createSyntaxReader({ workers: 1 })
  const files = [added('one.ts', 'const a = 1\n'), added('two.ts', 'const b = 1\n')]
  const first = await once.read(files, never)
  expect([...first.keys()]).toEqual(['one.ts', 'two.ts'])
  // Without a worker only what is kept can be told.
  await once.close()
  const again = await once.read(
    [...files.slice(0, 1), added('two.ts', 'const b = 2\n'), added('three.ts', 'c()\n')],
    never,
  )
  expect([...again]).toEqual([['one.ts', first.get('one.ts')]])
})
