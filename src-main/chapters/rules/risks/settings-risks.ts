import { matchesPath } from '../matches-path.ts'
import { riskOfHunks, type FoundRisk, type RiskRule } from './risk.ts'

/** Files that the project's owners want read closely. */
export const riskyPath: RiskRule = (file, { risky_paths }) => {
  const paths = file.old_path === null ? [file.path] : [file.path, file.old_path]
  const pattern = risky_paths.find((one) => paths.some((path) => matchesPath(one, path)))
  return pattern === undefined ? [] : riskOfHunks(file, 'high', `The project’s settings call “${pattern}” risky.`)
}

/** Files that exist here and nowhere else, because git ignores them. */
export const ignoredNeeded: RiskRule = ({ path }, { ignored }) =>
  (ignored.get(path) ?? []).flatMap(({ name, is_import, place, line, hunk }): readonly FoundRisk[] => {
    if (place === 'file') {
      const does = is_import ? 'imports' : 'names'
      const text = `It ${does} “${name}”, which git ignores, so nothing but this worktree has it.`
      return [{ level: is_import ? 'high' : 'low', text, line, hunk }]
    }
    // What is built there is often named, and seldom imported.
    return is_import ? [{ level: 'low', text: `It imports “${name}” from a folder that git ignores.`, line, hunk }] : []
  })
