import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { BaseSequencer } from 'vitest/node'
import { root } from './support/project.mjs'

/** When no further test may begin: milliseconds since 1970, null without a limit. */
const until = process.env.COPSE_TESTS_UNTIL ? Number(process.env.COPSE_TESTS_UNTIL) : null
/** How many commits back a change of a test counts as new. */
const newCommits = 40

/**
 * The tests that changed last come first, then the others in an order that is another one for each commit: what a slow
 * machine leaves out is not always the same.
 */
class MostWantedFirst extends BaseSequencer {
  async sort(specs) {
    const sorted = await super.sort(specs)
    const recent = recentlyChanged()
    const commit = git('rev-parse', 'HEAD').trim()
    const rank = new Map(
      sorted.map(({ moduleId }) => {
        const at = recent.indexOf(relative(root, moduleId))
        return [moduleId, at >= 0 ? String(at).padStart(6, '0') : `x${hash(commit + relative(root, moduleId))}`]
      }),
    )
    // Workers serve one project at a time. The one that takes longest comes last: it would leave out all the others.
    const projects = [...new Set(sorted.map(({ project }) => project.name))].sort(
      (one, other) => Number(one === 'main') - Number(other === 'main'),
    )
    return projects.flatMap((name) =>
      sorted.filter(({ project }) => project.name === name).sort((a, b) => compare(rank, a, b)),
    )
  }
}

/** Lets the tests end that run when the time is up, begins no other, and tells which files are left out. */
export default class TimeLimit {
  #timer = null

  onInit(vitest) {
    if (until === null) return
    vitest.config.sequence.sequencer = MostWantedFirst
    this.#timer = setTimeout(() => {
      console.log('The time for these tests is up: those that run may end.')
      void vitest.cancelCurrentRun('keyboard-input')
    }, until - Date.now())
  }

  onTestRunEnd(modules) {
    clearTimeout(this.#timer)
    const file = process.env.COPSE_TESTS_LEFT_OUT
    // What cannot be loaded has no tests either, but an error.
    const isLeftOut = (module) => module.errors().length === 0 && module.children.allTests().next().done
    const left = modules.filter(isLeftOut)
    if (file && until !== null && left.length > 0)
      writeFileSync(file, JSON.stringify(left.map((module) => module.relativeModuleId)))
  }
}

const recentlyChanged = () =>
  git('log', `-${newCommits}`, '--format=', '--name-only', '--', 'test')
    .split('\n')
    .filter((path, at, all) => path.endsWith('.test.ts') && all.indexOf(path) === at)

const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout ?? ''

const hash = (text) => createHash('sha256').update(text).digest('hex')

const compare = (rank, a, b) => (rank.get(a.moduleId) < rank.get(b.moduleId) ? -1 : 1)
