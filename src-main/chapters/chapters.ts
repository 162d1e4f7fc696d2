import type { Chapters as ChaptersView } from '../../src-shared/contract/chapters.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Ground } from '../core/ground.ts'
import { pause } from '../core/pause.ts'
import { redactorOf } from '../core/redactor-of.ts'
import { toSettings } from '../core/views.ts'
import type { ViewedMarks } from '../domain/review/viewed-marks.ts'
import type { BranchRef } from '../ports/branch-ref.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import type { SyntaxReader } from '../ports/syntax-reader.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import type { Worktrees } from '../workspaces/worktrees.ts'
import { keepProposal, withProposal, workChanged, type Proposal } from './proposals.ts'
import { rulesVersion } from './rules/build-chapters.ts'
import { divideByFiles } from './rules/by-files.ts'
import type { ChangedSource } from './rules/facts.ts'
import { tellByRules } from './tell-by-rules.ts'
import { toKept, toView, type KeptChapters } from './views.ts'

/** Divides the changes of tasks into chapters to read. */
export interface Chapters {
  /**
   * Returns the chapters of a task's work as it is now. If the rules need longer than a moment, returns the files and
   * announces the chapters once they are ready. `marks` returns what the reader has viewed.
   */
  read(task: TaskRecord, marks: () => ViewedMarks, options: Cancellable): Promise<ChaptersView>
  /** Keeps chapters that a caller proposes for the tree that it has read. */
  propose(task: TaskRecord, proposal: Proposal, options: Cancellable): Promise<Refusal | null>
  close(): Promise<void>
}

/** Most changes are divided within this time, so that no reader sees their files first. */
const momentMs = 300
/** Trees whose chapters are kept. */
const maxKept = 32

interface Computing {
  /** Tasks that were answered with files; they can share a worktree. */
  readonly waiting: Set<TaskId>
  readonly files: KeptChapters
  readonly done: Promise<void>
}

type Parts = Pick<Ground, 'places' | 'feed' | 'writes' | 'store' | 'log' | 'redactor'>

export function createChapters(
  parts: Parts,
  worktrees: Pick<Worktrees, 'of' | 'look'>,
  syntax: SyntaxReader,
): Chapters {
  const { places, feed, writes, store, log } = parts
  const kept = new Map<string, KeptChapters>()
  const computing = new Map<string, Computing>()
  const closing = new AbortController()

  const keep = (key: string, found: KeptChapters): void => {
    kept.delete(key)
    kept.set(key, found)
    const [oldest] = kept.keys()
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest)
  }
  const announce = async (waiting: ReadonlySet<TaskId>, tree: string): Promise<void> => {
    if (waiting.size === 0) return
    // While the database takes no writes, it is tried again.
    const write = () =>
      feed.commit((tx) => {
        for (const task_id of waiting) {
          const task = tx.tasks.get(task_id)
          if (task) tx.emit('chapters.updated', { project_id: task.project_id, task_id, tree })
        }
      })
    await writes.untilWritten(write, closing.signal).catch((error: unknown) => {
      log.warn({ err: error, tree }, 'chapters could not be told')
    })
  }
  const riskyPathsOf = (project_id: ProjectId): readonly string[] => {
    const project = store.read.projects.get(project_id)
    return project ? toSettings(project).risky_paths : []
  }
  const keyOf = (project_id: ProjectId, { base_tree, tree }: { readonly base_tree: string; readonly tree: string }) =>
    JSON.stringify([project_id, base_tree, tree, rulesVersion, riskyPathsOf(project_id)])
  const compute = (key: string, task: TaskRecord, work: Work): Computing => {
    const { ref, base_tree, tree, files } = work
    const { signal } = closing
    const redact = redactorOf(parts, store.read, task.project_id)
    const byFiles = toKept(tree, files, { chapters: divideByFiles(files), risks: [] })
    const waiting = new Set<TaskId>()
    const apply = async (): Promise<void> => {
      try {
        const told = await tellByRules(files, {
          syntax,
          wordsInBase: (words) => places.of(task.id).diffs.wordsIn(ref, base_tree, words, { signal }),
          onlyIgnored: (paths) => places.of(task.id).diffs.onlyIgnored(ref, paths, { signal }),
          hasSecret: (line) => redact(line) !== line,
          risky_paths: riskyPathsOf(task.project_id),
          signal,
        })
        keep(key, { ...toKept(tree, files, told), source: 'rules' })
      } catch (error) {
        if (signal.aborted) return
        log.error({ err: error, task_id: task.id }, 'chapters could not be made; files are shown instead')
        keep(key, byFiles)
      } finally {
        computing.delete(key)
      }
      await announce(waiting, tree)
    }
    const found = { waiting, files: byFiles, done: apply() }
    computing.set(key, found)
    return found
  }
  const readKept = async (task: TaskRecord, workspace: WorkspaceRecord, options: Cancellable): Promise<Answer> =>
    worktrees.look(workspace, async (ref) => {
      const isKnown = (trees: { readonly base_tree: string; readonly tree: string }): boolean => {
        const key = keyOf(task.project_id, trees)
        return kept.has(key) || computing.has(key)
      }
      const { files, ...trees } = await places.of(task.id).diffs.sources(ref, isKnown, options)
      const key = keyOf(task.project_id, trees)
      const ready = kept.get(key)
      if (ready) {
        keep(key, ready)
        return { found: ready, pending: false }
      }
      // Of a computation that has ended in between, nothing is kept if it was pushed out: read once more.
      const under = computing.get(key) ?? (files ? compute(key, task, { ref, ...trees, files }) : null)
      if (under === null) return await readKept(task, workspace, options)
      await Promise.race([under.done, pause(momentMs, [options.signal, closing.signal])])
      const now = kept.get(key)
      if (now) return { found: now, pending: false }
      under.waiting.add(task.id)
      return { found: under.files, pending: true }
    })
  return {
    read: async (task, marks, options) => {
      const workspace = worktrees.of(task)
      if (!workspace || workspace.base_commit === null)
        return { tree: null, source: 'files', pending: false, by: null, chapters: [], risks: [], rejected: null }
      const { found, pending } = await readKept(task, workspace, options)
      const proposal = store.read.chapter_proposals.of(task.id)
      // What is folded isn't known before the rules are ready.
      const shown = pending ? { found, told: undefined } : withProposal(found, proposal)
      // Read last, so that files marked while git was busy count already.
      return toView(shown.found, pending, marks(), shown.told)
    },
    propose: async (task, proposal, options) => {
      const workspace = worktrees.of(task)
      if (!workspace || workspace.base_commit === null) return workChanged(null)
      const { found } = await readKept(task, workspace, options)
      return keepProposal(parts, task.id, proposal, found)
    },
    close: async () => {
      closing.abort(new Error('The service is stopping.'))
      await syntax.close()
      await Promise.all([...computing.values()].map(({ done }) => done))
    },
  }
}

interface Work {
  readonly ref: BranchRef
  readonly base_tree: string
  readonly tree: string
  readonly files: readonly ChangedSource[]
}

interface Answer {
  readonly found: KeptChapters
  readonly pending: boolean
}
