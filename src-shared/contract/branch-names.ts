/** Returns why git would not take branch names that begin with this prefix; null when it would. */
export function branchPrefixProblem(prefix: string): string | null {
  if (prefix.startsWith('-')) return "It can't start with “-”, which git reads as an option."
  if (prefix.startsWith('/')) return "It can't start with “/”."
  // git check-ref-format, of the prefix and a letter behind it.
  const parts = `${prefix}x`.split('/')
  if (parts.includes('')) return "It can't contain “//”."
  if (parts.some((part) => part.startsWith('.'))) return 'No part between “/” can start with a dot.'
  if (parts.some((part) => part.endsWith('.lock'))) return 'No part between “/” can end in “.lock”.'
  const bad = /\.\.|@\{|[\u0000- \u007f~^:?*[\\]/.exec(prefix)
  return bad === null ? null : `Git takes no branch name with ${JSON.stringify(bad[0])} in it.`
}
