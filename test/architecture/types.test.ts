import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readFile } from 'node:fs/promises'
import { copyProject, copySettings, projectRoot } from './project-copy.ts'

const impure: readonly (readonly [file: string, code: string])[] = [
  ['src-main/domain/planted-process.ts', 'export const planted = () => process.pid'],
  ['src-main/domain/planted-timer.ts', 'export const planted = () => setTimeout(() => undefined, 1)'],
  ['src-shared/contract/planted-fetch.ts', "export const planted = () => fetch('/')"],
  ['src-shared/lang/planted-document.ts', 'export const planted = () => document.title'],
  ['src-renderer/model/planted-window.ts', 'export const planted = () => window.location.hash'],
  ['src-renderer/formatters/planted-storage.ts', "export const planted = () => localStorage.getItem('planted')"],
  ['src-shared/lang/planted-node.ts', "import 'node:fs'\nexport const planted = 1"],
]

test('Node, timers, the network and the DOM are type errors in the pure folders', async () => {
  await using copy = await copySettings()
  for (const [file, code] of impure) await copy.plant(file, `${code}\n`)
  const output = await new Promise<string>((resolve) => {
    const tsc = join(projectRoot, 'node_modules', 'typescript', 'bin', 'tsc')
    execFile(process.execPath, [tsc, '-p', 'tsconfig.pure.json', '--noEmit'], { cwd: copy.root }, (_error, stdout) =>
      resolve(stdout),
    )
  })
  const inError = new Set(output.split('\n').map((line) => line.split('(')[0]))
  expect(impure.map(([file]) => file).filter((file) => !inError.has(file))).toEqual([])
}, 60_000)

/** The list of a resource's fields → the files that store what its creation and its change are given, and how many of the two. */
const fieldLists: readonly (readonly [list: string, file: string, stores: Readonly<Record<string, number>>])[] = [
  [
    'TaskFields = z.object({',
    'src-shared/contract/tasks.ts',
    { 'src-main/api/handlers/tasks.ts': 1, 'src-main/api/new-task.ts': 1 },
  ],
  ['AgentFields = z.object({', 'src-shared/contract/projects.ts', { 'src-main/api/handlers/agents.ts': 2 }],
  ['ProjectFields = z.object({', 'src-shared/contract/projects.ts', { 'src-main/api/handlers/projects.ts': 2 }],
  ['RepoFields = z.object({', 'src-shared/contract/projects.ts', { 'src-main/projects/repositories.ts': 2 }],
  ['KnowledgeFields = z.object({', 'src-shared/contract/knowledge.ts', { 'src-main/api/handlers/knowledge.ts': 2 }],
  ['CommentFields = z.object({', 'src-shared/contract/comments.ts', { 'src-main/api/handlers/comments.ts': 2 }],
  [
    'IntegrationFields = z.object({',
    'src-shared/contract/integrations.ts',
    { 'src-main/integrations/change-integration.ts': 2 },
  ],
  // Any project has every setting, so that one without a default is a type error where the defaults are.
  ['ProjectSettings = z\n  .object({', 'src-shared/contract/projects.ts', { 'src-shared/contract/projects.ts': 1 }],
]

test('a field that is in the contract and nowhere else does not compile: it would be accepted and dropped', async () => {
  await using copy = await copyProject()
  for (const [at, [list, file]] of fieldLists.entries()) {
    const text = await readFile(join(copy.root, file), 'utf8')
    const planted = text.replace(`export const ${list}`, `$&\n  planted_${at}: z.int().min(0),`)
    expect([list, planted !== text]).toEqual([list, true])
    await copy.plant(file, planted)
  }
  const stores = new Set(fieldLists.flatMap(([, , files]) => Object.keys(files)))
  await copy.plant(
    'tsconfig.planted.json',
    JSON.stringify({ extends: './tsconfig.json', include: [], files: [...stores] }),
  )
  const output = await new Promise<string>((resolve) => {
    const tsc = join(projectRoot, 'node_modules', 'typescript', 'bin', 'tsc')
    execFile(process.execPath, [tsc, '-p', 'tsconfig.planted.json', '--noEmit'], { cwd: copy.root }, (_error, stdout) =>
      resolve(stdout),
    )
  })
  // An error begins with its file; what follows it says which field it is about.
  const errors = output.split(/\n(?=\S)/)
  const told = (at: number, file: string) =>
    errors.filter((error) => error.startsWith(`${file}(`) && error.includes(`planted_${at}`)).length
  const silent = fieldLists.flatMap(([list, , stores], at) =>
    Object.entries(stores).flatMap(([file, times]) => (told(at, file) < times ? [`${list} ${file}`] : [])),
  )
  expect(silent).toEqual([])
}, 60_000)
