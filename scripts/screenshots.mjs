import { join } from 'node:path'
import { ensureBuilt } from './build.mjs'
import { ensureNode } from './node.mjs'
import { ensureDependencies } from './setup.mjs'
import { runAs, withPath } from './support/child.mjs'
import { failWith, root } from './support/project.mjs'

// npm run screenshots: a picture of every screen of what is built, in both themes and at two widths.
try {
  const bin = await ensureNode()
  await ensureDependencies(bin)
  await ensureBuilt(bin)
  const args = [join(root, 'test', 'screenshots', 'run.ts'), ...process.argv.slice(2)]
  process.exit(await runAs('node', args, { cwd: root, env: withPath([bin]) }))
} catch (error) {
  failWith(error)
}
