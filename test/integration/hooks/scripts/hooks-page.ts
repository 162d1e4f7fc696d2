import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LifecycleHooks } from '../../../../src-shared/contract/lifecycle-hooks.ts'
import { projectRoot } from '../../../helpers/project-root.ts'

/** The script that a sample of docs/hooks.md adds to the repository. */
export function sampleScript(heading: string): string {
  const page = readFileSync(join(projectRoot, 'docs', 'hooks.md'), 'utf8')
  const [, script] = /^```js\n(.*?)^```$/ms.exec(page.slice(page.indexOf(`\n### ${heading}\n`))) ?? []
  if (script === undefined) throw new Error(`docs/hooks.md has no script under "${heading}".`)
  return script
}

/** The samples of docs/hooks.md: by heading, the hooks of each. */
export function readSamples(): ReadonlyMap<string, LifecycleHooks> {
  const page = readFileSync(join(projectRoot, 'docs', 'hooks.md'), 'utf8')
  const samples = page.slice(page.indexOf('\n## Samples\n')).split('\n### ').slice(1)
  return new Map(
    samples.map((section) => {
      const [heading = ''] = section.split('\n', 1)
      const [, body = ''] = /^```json\n(.*?)^```$/ms.exec(section) ?? []
      return [heading, (JSON.parse(body) as { lifecycle_hooks: LifecycleHooks }).lifecycle_hooks]
    }),
  )
}
