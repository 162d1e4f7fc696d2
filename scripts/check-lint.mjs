import { checkEach } from './support/check-each.mjs'

// TypeScript and JavaScript with Oxlint, Vue's files with ESLint, whose plugin reads templates, and exports that no
// other file uses with Knip.
// Without a cache: what it keeps of a file is not looked at again when a type that the file uses has changed.
await checkEach([
  ['oxlint', '.'],
  ['eslint', '.'],
  ['knip', '--no-progress'],
])
