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
  const find = (row: LinuxProcess): LiveTree | null =>
    roots.get(row.pid) ??
    roots.get(row.session) ??
    roots.get(row.pgid) ??
    known.get(row.ppid) ??
    (row.order < oldest ? null : treeOfEnvironment(row, trees))
  const treeOf = (row: LinuxProcess): LiveTree | null => {
    // Parents first, without recursion: a program that starts itself again and again makes thousands of generations.
    const path: LinuxProcess[] = []
    for (let at: LinuxProcess | undefined = row; at !== undefined && !known.has(at.pid); at = byPid.get(at.ppid)) {
      // Also ends a circle of parents, which a table that moved while it was read may have.
      known.set(at.pid, null)
      path.push(at)
    }
    for (const at of path.toReversed()) known.set(at.pid, find(at))
    return known.get(row.pid) ?? null
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
