/** The range of ports that a worktree has, of which `base` is the first. */
export function formatPorts(base: number): string {
  return `${base} to ${base + 9}`
}
