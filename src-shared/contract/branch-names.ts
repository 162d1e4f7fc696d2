/** Returns why git would refuse branch names that begin with this prefix; null if it would not. */
export function branchPrefixProblem(prefix: string): string | null {
  if (prefix.startsWith('-')) return "It can't start with “-”, which git reads as an option."
  if (prefix.startsWith('/')) return "It can't start with “/”."
  // The rules of git check-ref-format for the prefix with a letter after it.
  const parts = `${prefix}x`.split('/')
  if (parts.includes('')) return "It can't contain “//”."
  if (parts.some((part) => part.startsWith('.'))) return 'No part between “/” can start with a dot.'
  if (parts.some((part) => part.endsWith('.lock'))) return 'No part between “/” can end in “.lock”.'
  const bad = /\.\.|@\{|[\u0000- \u007f~^:?*[\\]/.exec(prefix)
  return bad === null ? null : `Git takes no branch name with ${JSON.stringify(bad[0])} in it.`
}
