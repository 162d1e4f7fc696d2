import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readFile } from 'node:fs/promises'
import { copyProject, copySettings, projectRoot } from './project-copy.ts'

const impure: readonly (readonly [file: string, code: string])[] = [
  ['src-main/domain/planted-process.ts', 'export const planted = () => process.pid'],
  ['src-main/domain/planted-timer.ts', 'export const planted = () => setTimeout(() => undefined, 1)'],
  ['src-main/landing/rules/planted-process.ts', 'export const planted = () => process.pid'],
  ['src-shared/contract/planted-fetch.ts', "export const planted = () => fetch('/')"],
  ['src-shared/lang/planted-document.ts', 'export const planted = () => document.title'],
  ['src-renderer/model/planted-window.ts', 'export const planted = () => window.location.hash'],
  ['src-renderer/formatters/planted-storage.ts', "export const planted = () => localStorage.getItem('planted')"],
  ['src-shared/lang/planted-node.ts', "import 'node:fs'\nexport const planted = 1"],
]

test('rejects Node, timers, the network and the DOM in the pure folders', async () => {
  await using copy = await copySettings()
  for (const [file, code] of impure) await copy.plant(file, `${code}\n`)
  const errors = await compile(copy.root, 'tsconfig.pure.json')
  const inError = new Set(errors.map((error) => error.split('(')[0]))
  expect(impure.map(([file]) => file).filter((file) => !inError.has(file))).toEqual([])
})

/** The fields of a resource → the files that store its creation and its change, and how many of the two. */
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
  [
    'TaskTemplateFields = z.object({',
    'src-shared/contract/task-templates.ts',
    { 'src-main/api/handlers/task-templates.ts': 2 },
  ],
  ['CommentFields = z.object({', 'src-shared/contract/comments.ts', { 'src-main/api/handlers/comments.ts': 2 }],
  [
    'IntegrationFields = z.object({',
    'src-shared/contract/integrations.ts',
    { 'src-main/integrations/change-integration.ts': 2 },
  ],
  // Every project has every setting, so a missing default is a type error.
  ['ProjectSettings = z\n  .object({', 'src-shared/contract/projects.ts', { 'src-shared/contract/projects.ts': 1 }],
]

test('does not compile a contract field that is used nowhere else', async () => {
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
  const errors = await compile(copy.root, 'tsconfig.planted.json')
  const told = (at: number, file: string) =>
    errors.filter((error) => error.startsWith(`${file}(`) && error.includes(`planted_${at}`)).length
  const silent = fieldLists.flatMap(([list, , stores], at) =>
    Object.entries(stores).flatMap(([file, times]) => (told(at, file) < times ? [`${list} ${file}`] : [])),
  )
  expect(silent).toEqual([])
})

test('does not compile a screen that has only an address', async () => {
  await using copy = await copyProject()
  const file = 'src-renderer/model/route.ts'
  const text = await readFile(join(copy.root, file), 'utf8')
  const planted = text.replace('export type Route =', "$&\n  | { readonly screen: 'planted' }")
  expect(planted).not.toBe(text)
  await copy.plant(file, planted)
  const addresses = 'test/unit/renderer/model/route.test.ts'
  await copy.plant(addresses, await readFile(join(projectRoot, addresses), 'utf8'))
  const missed = ['src-renderer/model/route.ts', 'src-renderer/shell/screens.ts', addresses]
  await copy.plant(
    'tsconfig.planted.json',
    JSON.stringify({ extends: './tsconfig.json', include: ['src-renderer/env.d.ts'], files: missed }),
  )
  const errors = await compile(copy.root, 'tsconfig.planted.json')
  const inError = new Set(errors.map((error) => error.split('(')[0]))
  expect(missed.filter((one) => !inError.has(one))).toEqual([])
  // Its view and its title are each missing.
  expect(
    errors.filter((error) => error.startsWith('src-renderer/shell/screens.ts(') && error.includes('planted')),
  ).toHaveLength(2)
})

/** The errors of a program, each with its file first. */
async function compile(root: string, config: string): Promise<readonly string[]> {
  const output = await new Promise<string>((resolve) => {
    const tsc = join(projectRoot, 'node_modules', 'typescript', 'bin', 'tsc')
    execFile(process.execPath, [tsc, '-p', config, '--noEmit'], { cwd: root }, (_error, stdout) => resolve(stdout))
  })
  return output.split(/\n(?=\S)/).filter((error) => error.includes('error TS'))
}
