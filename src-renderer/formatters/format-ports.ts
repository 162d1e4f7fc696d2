/** Formats a worktree's range of ten ports, from `base` on. */
export function formatPorts(base: number): string {
  return `${base} to ${base + 9}`
}
