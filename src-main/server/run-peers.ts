import type { Socket } from 'node:net'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { LiveTree } from '../platform/process/live-trees.ts'
import { findPeerTrees } from '../platform/process/peer-tree.ts'

/** The programs of runs, checks and hooks among the callers. A run may use its own token alone (invariant I9). */
export interface RunPeers {
  /** Returns the trees of which one has this connection; none: that can't be told any more; null: no tree's. */
  of(socket: Socket): Promise<readonly LiveTree[] | null>
}

/**
 * Decides once for each connection, at its first request: a program that runs before a tree starts never belongs to
 * it.
 */
export function createRunPeers(find: typeof findPeerTrees = findPeerTrees): RunPeers {
  const decided = new Map<Socket, ReturnType<typeof findPeerTrees>>()
  return {
    of: (socket) => {
      const before = decided.get(socket)
      if (before !== undefined) return before
      const trees = find(socket)
      if (!socket.destroyed) {
        decided.set(socket, trees)
        socket.once('close', () => decided.delete(socket))
      }
      return trees
    },
  }
}

/** Returns whether this is the token that one of these trees was started with. */
export const isOwnToken = (trees: readonly LiveTree[], token: string): boolean =>
  trees.some(({ env }) => env['SVC_API_TOKEN'] === token)

/** Returns the refusal of a program of one of these trees, with what it can do. */
export function runRefusal(trees: readonly LiveTree[], code: 'invalid_token' | 'other_user'): Refusal {
  const { execution_id } = aboutRun(trees).details
  return { code, message: refusalMessage(trees), details: { execution_id } }
}

function refusalMessage(trees: readonly LiveTree[]): string {
  if (trees.length === 0) return "Copse couldn't tell which program asks, because it left. Wait for the answer."
  if (trees.some(hasToken)) return 'A program of a run gets in with the token of its run only. Use SVC_API_TOKEN.'
  return 'Checks, hooks and setup commands have no access. Let an agent do this, or a program outside of Copse.'
}

const hasToken = ({ env }: LiveTree) => env['SVC_API_TOKEN'] !== undefined

/** Returns what the security log says of such a program. */
export function aboutRun(trees: readonly LiveTree[]) {
  const [tree] = trees
  const env = tree?.env ?? {}
  const agent_id = tree && hasToken(tree) ? env['SVC_AGENT_ID'] : undefined
  return {
    actor: agent_id ? `agent:${agent_id}` : 'system',
    details: { task_id: env['SVC_TASK_ID'] || null, execution_id: (agent_id && env['SVC_EXECUTION_ID']) || null },
  }
}
