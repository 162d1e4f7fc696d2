import { maxOwnLines } from './max-own-lines.js'
import { noExecutorNames } from './no-executor-names.js'
import { noValueInTemplate } from './no-value-in-template.js'
import { restrictedSyntax } from './restricted-syntax.js'

/** The project's own rules, for both linters. */
const plugin = {
  meta: { name: 'copse' },
  rules: {
    'max-own-lines': maxOwnLines,
    'no-executor-names': noExecutorNames,
    'no-value-in-template': noValueInTemplate,
    'restricted-syntax': restrictedSyntax,
  },
}
export default plugin
