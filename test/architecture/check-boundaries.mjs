import { cruise } from 'dependency-cruiser'
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config'
import { join } from 'node:path'
import rules from '../../.dependency-cruiser.mjs'

const { options, ...ruleSet } = rules

/**
 * Checks who imports whom below `folder`. Answers how many modules were read, since a cruiser that does
 * not understand the language finds none and is content, and the violations as lines to read.
 */
export async function checkBoundaries(folder) {
  const { output } = await cruise(
    ['src-main', 'src-shared', 'src-renderer'],
    { ...options, baseDir: folder, validate: true, ruleSet },
    undefined,
    { tsConfig: extractTSConfig(join(folder, 'tsconfig.json')) },
  )
  const comments = new Map(ruleSet.forbidden.map((rule) => [rule.name, rule.comment]))
  return {
    modules: output.summary.totalCruised,
    violations: output.summary.violations.map(({ rule, from, to }) => ({
      rule: rule.name,
      text: `${from} → ${to}\n    ${rule.name}: ${comments.get(rule.name) ?? ''}`,
    })),
  }
}
