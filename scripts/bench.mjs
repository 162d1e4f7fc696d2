import { join } from 'node:path'
import { ensureBuilt } from './build.mjs'
import { ensureNode } from './node.mjs'
import { ensureDependencies } from './setup.mjs'
import { runAs, withPath } from './support/child.mjs'
import { failWith, root } from './support/project.mjs'

// npm run bench: the benchmarks on what is built; bench:scale: the same work at growing sizes; bench:runners: runs on many
// machines at growing rates; bench:starts: a start on each type of runner; bench:peers: the same jobs done by another program.
try {
  const bin = await ensureNode()
  await ensureDependencies(bin)
  await ensureBuilt(bin)
  const [first = '', ...others] = process.argv.slice(2)
  const bench = join(root, 'test', 'bench')
  const isOther = ['--scale', '--runners', '--starts', '--peers'].includes(first)
  const args = isOther
    ? [join(bench, first.slice(2), 'run.ts'), ...others]
    : [join(bench, 'run.ts'), ...process.argv.slice(2)]
  process.exit(await runAs('node', args, { cwd: root, env: withPath([bin]) }))
} catch (error) {
  failWith(error)
}
