import { join } from 'node:path'
import { startVitest } from 'vitest/node'
import { agentBinary, pinnedAgents } from './agent-binaries.ts'
import type { PinnedAgentName } from './agent-binaries.ts'

/** Fetches the pinned agents, runs the suite against them, and ends with a line `N passed, N failed`. */
async function main(): Promise<void> {
  for (const [name, { package: of, version }] of Object.entries(pinnedAgents)) {
    console.log(`${of} ${version}: ${await agentBinary(name as PinnedAgentName)}`)
  }
  const vitest = await startVitest('test', process.argv.slice(2), {
    config: join(import.meta.dirname, 'vitest.config.ts'),
    watch: false,
    run: true,
  })
  const modules = vitest.state.getTestModules()
  const results = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state))
  const passed = results.filter((state) => state === 'passed').length
  // A file that does not load, and an error outside of tests, count as failures too.
  const broken =
    modules.filter((module) => module.errors().length > 0).length + vitest.state.getUnhandledErrors().length
  const failed = results.filter((state) => state !== 'passed').length + broken
  await vitest.close()
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1
}

await main()
