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

test('a field of a task that is in the contract and nowhere else does not compile: it would be accepted and dropped', async () => {
  await using copy = await copyProject()
  const contract = 'src-shared/contract/tasks.ts'
  const text = await readFile(join(copy.root, contract), 'utf8')
  const planted = text.replace('export const TaskFields = z.object({', '$&\n  estimate: z.int().min(0),')
  expect(planted).not.toBe(text)
  await copy.plant(contract, planted)
  const settings = { extends: './tsconfig.json', include: [], files: ['src-main/api/handlers/tasks.ts'] }
  await copy.plant('tsconfig.planted.json', JSON.stringify(settings))
  const output = await new Promise<string>((resolve) => {
    const tsc = join(projectRoot, 'node_modules', 'typescript', 'bin', 'tsc')
    execFile(process.execPath, [tsc, '-p', 'tsconfig.planted.json', '--noEmit'], { cwd: copy.root }, (_error, stdout) =>
      resolve(stdout),
    )
  })
  const files = new Set(output.split('\n').flatMap((line) => /^(src-\S+?)\(/.exec(line)?.[1] ?? []))
  // Both the creation and the change of a task.
  expect([...files].toSorted()).toEqual(['src-main/api/handlers/tasks.ts', 'src-main/api/new-task.ts'])
  expect(output).toContain('estimate')
}, 60_000)
