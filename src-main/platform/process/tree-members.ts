import { readlinkSync } from 'node:fs'
import type { LiveTree } from './live-trees.ts'
import { readEnvironment, type LinuxProcess } from './process-table.ts'
import { treeVariable } from './tree-variable.ts'

/**
 * Returns the processes that belong to a tree: its root's descendants, its group and session, and what left all of
 * these, as long as the environment has its marker. Without an environment, a program belongs to the tree in whose
 * worktree it runs. A process that cleared its environment otherwise and left everything can't be told from a
 * person's own.
 */
export function findMembers(
  rows: readonly LinuxProcess[],
  trees: ReadonlySet<LiveTree>,
): ReadonlyMap<number, LiveTree> {
  const roots = new Map([...trees].map((tree) => [tree.pid, tree]))
  const byPid = new Map(rows.map((row) => [row.pid, row]))
  // No process of a tree is older than its root. A root that has ended doesn't tell its age.
  const oldest = Math.min(...[...trees].map(({ pid }) => byPid.get(pid)?.order ?? 0))
  const known = new Map<number, LiveTree | null>([[process.pid, null]])
  const find = (row: LinuxProcess): LiveTree | null => {
    const parent = byPid.get(row.ppid)
    return (
      roots.get(row.pid) ??
      roots.get(row.session) ??
      roots.get(row.pgid) ??
      (parent && treeOf(parent)) ??
      (row.order < oldest ? null : treeOfEnvironment(row, trees))
    )
  }
  const treeOf = (row: LinuxProcess): LiveTree | null => {
    const before = known.get(row.pid)
    if (before !== undefined) return before
    // Also ends a circle of parents, which a table that moved while it was read may have.
    known.set(row.pid, null)
    const tree = find(row)
    known.set(row.pid, tree)
    return tree
  }
  return new Map(
    rows.flatMap((row) => {
      const tree = treeOf(row)
      return tree === null ? [] : [[row.pid, tree] as const]
    }),
  )
}

function treeOfEnvironment({ pid, terminal }: LinuxProcess, trees: ReadonlySet<LiveTree>): LiveTree | null {
  const environment = readEnvironment(pid)
  const mark = new RegExp(`\\0${treeVariable}=([^\\0]*)\\0`).exec(environment)?.[1]
  for (const tree of trees) if (tree.processMarker === mark) return tree
  // A person's own program in that folder has a terminal or a home.
  if (terminal !== 0 || environment.includes('\0HOME=')) return null
  const cwd = folderOf(pid)
  for (const tree of trees) {
    const worktree = tree.env['SVC_WORKTREE_PATH']
    if (worktree && `${cwd}/`.startsWith(`${worktree}/`)) return tree
  }
  return null
}

function folderOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return ''
  }
}
