/**
 * Whether a context matches a pattern of a branch protection: `*` and `?` (also over slashes: there are no separators),
 * `[a-z]`, `[!a-z]` and `{a,b}`.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  if (pattern === text) return true
  try {
    return new RegExp(`^(?:${toSource(pattern)})$`, 'su').test(text)
  } catch {
    return false
  }
}

function toSource(pattern: string): string {
  let source = ''
  let depth = 0
  for (const [part] of pattern.matchAll(/\\.|\[!?[^\]]+\]|\*+|./gsu)) {
    if (part.startsWith('*')) source += '.*'
    else if (part === '?') source += '.'
    else if (part.length > 2 && part.startsWith('[')) source += part.replace(/^\[!/, '[^')
    else if (part === '{') {
      source += '(?:'
      depth += 1
    } else if (part === '}' && depth > 0) {
      source += ')'
      depth -= 1
    } else if (part === ',' && depth > 0) source += '|'
    else source += (part.length > 1 ? part.slice(1) : part).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  }
  return source
}
