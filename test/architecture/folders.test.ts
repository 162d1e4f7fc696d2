import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { folderCycles, importsOfSources } from './folder-graph.ts'
import { projectRoot } from './project-copy.ts'

const { capabilities } = (await import(new URL('../../.dependency-cruiser.mjs', import.meta.url).href)) as {
  readonly capabilities: Readonly<Record<string, readonly string[]>>
}
const read = (file: string) => readFileSync(join(projectRoot, file), 'utf8')

test('imports folders in one direction only, types included', () => {
  expect(folderCycles(importsOfSources())).toEqual([])
})

test('finds folders that import each other', () => {
  const imports = new Map([
    ['src-main/a/one.ts', ['src-main/b/two.ts', 'src-main/a/below/three.ts']],
    ['src-main/a/below/three.ts', ['src-main/a/one.ts']],
    ['src-main/b/two.ts', ['src-main/c/four.ts']],
    ['src-main/c/four.ts', ['src-main/a/one.ts']],
  ])
  expect(folderCycles(imports).map(([folder]) => folder)).toEqual(['src-main/a', 'src-main/b', 'src-main/c'])
})

test('documents the import table that is enforced', () => {
  const rows = [
    ...read('docs/adr/0009-organise-by-capability.md').matchAll(/^\| `([\w-]+)` +\|[^|]*\| ([^|]*?) +\|$/gm),
  ]
  const written = new Map(rows.map(([, folder = '', may = '']) => [folder, may === '' ? [] : may.split(', ')]))
  const wrong = Object.entries(capabilities).filter(([folder, may]) => {
    const expected = folder === 'core' ? ['ports', 'domain'] : may
    return JSON.stringify(written.get(folder)) !== JSON.stringify(expected)
  })
  expect(wrong).toEqual([])
})

test('documents every folder of the main process', () => {
  const [, rest = ''] = read('ARCHITECTURE.md').split('## Layout')
  const [layout = ''] = rest.split('What the page does')
  const folders = readdirSync(join(projectRoot, 'src-main'), { withFileTypes: true }).filter((one) => one.isDirectory())
  expect(
    folders.map(({ name }) => name).filter((name) => !new RegExp(`\`(src-main/)?${name}[\`/]`).test(layout)),
  ).toEqual([])
})

test('names only existing files and folders in documents and comments', () => {
  const listed = execFileSync('git', ['ls-files', '-z', '*.md', '*.ts', '*.vue', '*.mjs', '*.yml'], {
    cwd: projectRoot,
    encoding: 'utf8',
  })
  const files = listed
    .split('\0')
    .filter((file) => file !== '' && !/^(test\/|CHANGELOG|\.dependency-cruiser)/.test(file))
  const missing = files.flatMap((file) => {
    const named = [...read(file).matchAll(/\bsrc-(?:main|renderer|shared)(?:\/[\w-]+)+(?:\.\w+)?(?![\w[*])/g)]
    return named
      .map(([path]) => path)
      .filter((path) => !existsSync(join(projectRoot, path)))
      .map((path) => `${file}: ${path}`)
  })
  expect(missing).toEqual([])
})

test('names only existing files in ARCHITECTURE.md', () => {
  const sources = [...importsOfSources().keys()]
  const named = [...read('ARCHITECTURE.md').matchAll(/`([\w/-]+\.(?:ts|vue))`/g)].map(([, name = '']) => name)
  expect(named.filter((name) => !sources.some((file) => `/${file}`.endsWith(`/${name}`)))).toEqual([])
})

test('cites each invariant where it is kept, and names a test that breaks it', () => {
  const rows = [...read('ARCHITECTURE.md').matchAll(/^\| (I\d+) +\| .*? \| `([^`]+)` +\| (.*?) +\|$/gm)]
  expect(rows.length).toBeGreaterThan(10)
  const wrong = rows.flatMap(([, id = '', keeper = '', tests = '']) => [
    ...(new RegExp(`invariant(?:\\s|\\*)+${id}\\b`).test(read(keeper)) ? [] : [`${keeper} does not cite ${id}`]),
    ...[...tests.matchAll(/`([^`]+)`/g)].flatMap(([, name]) =>
      existsSync(join(projectRoot, `test/${name}.test.ts`)) ? [] : [`${id} names no test ${name}`],
    ),
  ])
  expect(wrong).toEqual([])
})

test('says in each room of the renderer what it is for and where to start', () => {
  const files = execFileSync('git', ['ls-files', '-z', 'src-renderer'], { cwd: projectRoot, encoding: 'utf8' })
  const rooms = new Set(
    files
      .split('\0')
      .filter((file) => /\.(?:ts|vue)$/.test(file))
      .map((file) => dirname(file)),
  )
  const wrong = [...rooms]
    .filter((room) => room !== 'src-renderer')
    .flatMap((room) => {
      const readme = join(room, 'README.md')
      if (!existsSync(join(projectRoot, readme))) return [`${room} has no README.md`]
      const named = [...read(readme).matchAll(/`([\w/-]+\.(?:ts|vue|css))`/g)].map(([, name = '']) => name)
      return named
        .filter((name) => ![room, dirname(room)].some((from) => existsSync(join(projectRoot, from, name))))
        .map((name) => `${readme} names ${name}`)
    })
  expect(wrong).toEqual([])
})
