import { cruise } from 'dependency-cruiser'
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import rules from '../.dependency-cruiser.mjs'
import { root } from './support/project.mjs'

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

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { modules, violations } = await checkBoundaries(root)
  for (const { text } of violations) console.error(text)
  if (modules === 0) console.error('No module was read: the check is worth nothing.')
  else if (violations.length === 0) console.log(`${modules} modules, every import where it belongs`)
  process.exit(modules === 0 || violations.length > 0 ? 1 : 0)
}
