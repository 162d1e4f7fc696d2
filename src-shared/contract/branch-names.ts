/** Returns why git would not take branch names that begin with this prefix; null when it would. */
export function branchPrefixProblem(prefix: string): string | null {
  if (prefix.startsWith('-')) return 'It may not begin with “-”, which git takes for an option.'
  if (prefix.startsWith('/')) return 'It may not begin with “/”.'
  // git check-ref-format, of the prefix and a letter behind it.
  const parts = `${prefix}x`.split('/')
  if (parts.includes('')) return 'It may not hold “//”.'
  if (parts.some((part) => part.startsWith('.'))) return 'No part between “/” may begin with a dot.'
  if (parts.some((part) => part.endsWith('.lock'))) return 'No part between “/” may end in “.lock”.'
  const bad = /\.\.|@\{|[\u0000- \u007f~^:?*[\\]/.exec(prefix)
  return bad === null ? null : `Git takes no branch name with ${JSON.stringify(bad[0])} in it.`
}
