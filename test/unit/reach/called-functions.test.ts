import { Session } from 'node:inspector/promises'
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { projectRoot } from '../../helpers/project-root.ts'

const script = new URL('../../../scripts/reach/called-functions.mjs', import.meta.url).href
const { calledFunctions } = (await import(script)) as {
  calledFunctions(scripts: readonly object[]): ReadonlyMap<string, ReadonlySet<string>>
}

test('names what V8 saw called, callbacks by the function around them', async () => {
  // Below scripts, because only the project's own files are watched.
  const folder = await mkdtemp(join(await realpath(projectRoot), 'scripts', 'reach', 'tried-'))
  const file = join(folder, 'tried.mjs')
  await writeFile(
    file,
    `export const outer = () => [1].map((one) => helper(one))
     function helper(one) { return one }
     export function idle() { return [2].map((two) => two) }
     export class Box { get size() { return 1 } ask() { return 2 } }`,
  )
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    const url = pathToFileURL(file).href
    const tried = (await import(/* @vite-ignore */ url)) as { outer(): void; Box: new () => { readonly size: number } }
    tried.outer()
    void new tried.Box().size
    const { result } = await session.post('Profiler.takePreciseCoverage')
    const names = calledFunctions(result.filter((one) => one.url === url))
    const [[path = '', called] = []] = [...names]
    expect(path).toMatch(/^scripts\/reach\/tried-.*\/tried\.mjs$/)
    expect([...(called ?? [])].filter((name) => name !== '').sort()).toEqual(['helper', 'outer', 'size'])
  } finally {
    session.disconnect()
    await rm(folder, { recursive: true })
  }
})
