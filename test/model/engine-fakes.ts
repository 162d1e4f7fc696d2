import type { ExecutionOutcome, ExecutionRun, Executors, RunningExecution } from '../../src-main/ports/executors.ts'
import type { AttachmentFiles } from '../../src-main/ports/attachment-files.ts'
import type { Logs } from '../../src-main/ports/logs.ts'
import type { Scripts } from '../../src-main/ports/scripts.ts'
import type { WholeGit } from '../helpers/whole-git.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'

/** A running agent: ends when the test says so, or when it is stopped. */
export interface FakeRun {
  readonly task_id: TaskId
  end(outcome: ExecutionOutcome): void
}

export const ended = (exit_code: number): ExecutionOutcome => ({
  ended: 'exited',
  exit_code,
  session_id: null,
  usage: null,
  conclusion: 'done',
  message: 'Done.',
})

/** Agents that only end on demand; `running` holds the working ones. `onStart` is called when one begins. */
export function fakeExecutors(running: Map<TaskId, FakeRun>, onStart: (run: ExecutionRun) => void): Executors {
  let pid = 0
  return {
    location: () => 'local',
    detect: () => Promise.resolve([]),
    inspect: () => Promise.reject(new Error('No agent of the model is asked.')),
    reap: () => Promise.resolve(),
    refusedArgs: () => [],
    start: (_profile, run: ExecutionRun): Promise<RunningExecution> => {
      const { promise, resolve } = Promise.withResolvers<ExecutionOutcome>()
      const end = (outcome: ExecutionOutcome) => {
        if (running.get(run.task_id) === fake) running.delete(run.task_id)
        resolve(outcome)
      }
      const fake: FakeRun = { task_id: run.task_id, end }
      running.set(run.task_id, fake)
      onStart(run)
      pid += 1
      return Promise.resolve({
        process: { pid, started: String(pid) },
        outcome: promise,
        input: () => Promise.resolve(),
        stop: async () => {
          end({ ...ended(143), ended: 'stopped' })
          await promise
        },
      })
    },
  }
}

/** Scripts that exit with `exitCode` of their command. */
export function fakeScripts(exitCode: (command: string) => number): Scripts {
  return {
    run: ({ command }) =>
      Promise.resolve({ exit_code: exitCode(command), timed_out: false, duration_ms: 1, output_tail: command }),
    reap: () => Promise.resolve(),
  }
}

/** Logs without a reader. */
export const fakeLogs: Logs = {
  openAgent: () =>
    Promise.resolve({ entry: () => undefined, raw: () => Promise.resolve(), close: () => Promise.resolve() }),
  cutAgent: async () => undefined,
  openFile: () => Promise.resolve({ write: () => Promise.resolve(), close: () => Promise.resolve() }),
  writeKnowledge: () => Promise.resolve('/knowledge'),
  list: () => Promise.resolve([]),
  forget: () => Promise.resolve(),
  read: () => Promise.resolve(null),
  follow: async function* () {
    await Promise.resolve()
    yield { kind: 'end' as const }
  },
}

const emptyDiff = { base: null, head: null, tree: null, files: [], patch: '', truncated: false }

/** Worktrees that always exist and are valid. */
export const fakeWorkspaces: WholeGit = {
  nearby: () => Promise.resolve([]),
  trackedPaths: () => Promise.resolve([]),
  remoteUrls: () => Promise.resolve([]),
  inspect: () => Promise.resolve({ root: '/repo', name: 'repo', default_branch: 'main', branches: ['main'] }),
  ensure: () => Promise.resolve({ kind: 'ready', how: 'reused', base_commit: 'base' }),
  withScratch: ({ at }, use) => use(`/scratch/${at}`),
  removeStaleScratch: () => Promise.resolve([]),
  exists: () => Promise.resolve(true),
  hiddenChanges: () => Promise.resolve([]),
  isOnBranch: () => Promise.resolve(true),
  size: () => Promise.resolve(null),
  status: () => Promise.resolve({ dirty: true, ahead: 1, behind: 0, head: 'head' }),
  head: () => Promise.resolve('head'),
  diff: () => Promise.resolve(emptyDiff),
  commits: () => Promise.resolve([]),
  commitDiff: () => Promise.resolve(null),
  findings: () => Promise.resolve({ hidden_text: [], same_names: [], mass_deletion: null }),
  messages: () => Promise.resolve([]),
  sources: () => Promise.resolve({ base_tree: 'base', tree: 'tree', files: [] }),
  wordsIn: () => Promise.resolve(new Set()),
  onlyIgnored: (_ref, paths) => Promise.resolve(paths.map(() => null)),
  hunks: () => Promise.resolve({ base_tree: 'base', tree: 'tree', files: [] }),
  diffStat: () => Promise.resolve({ files: 1, additions: 1, deletions: 0 }),
  watch: () => Promise.resolve({ how: () => 'watching', close: () => Promise.resolve() }),
  programs: (repo) => Promise.resolve({ common: repo, programs: {} }),
  runs: () => Promise.resolve([]),
  branches: () => Promise.resolve({}),
  putBackBranches: () => Promise.resolve([]),
  repositoryState: () => Promise.resolve({}),
  lines: () => Promise.resolve(null),
  applyLines: () => Promise.resolve({ kind: 'changed' }),
  lineChanges: (_ref, _since, places) => Promise.resolve(places.map(() => null)),
  work: () => Promise.resolve({ head: 'head', tree: 'tree' }),
  innerRepositories: () => Promise.resolve({ nested: [], unpushed: [] }),
  absorbNested: () => Promise.resolve(),
  removeNested: () => Promise.resolve(),
  changedFiles: () => Promise.resolve([]),
  commitWork: () => Promise.resolve('head'),
  commitAll: () => Promise.resolve(null),
  resetWorktree: () => Promise.resolve(null),
  discard: () => Promise.resolve(null),
  rescue: () => Promise.resolve(null),
  checkTarget: () => Promise.resolve({ dirty: [] }),
  merge: () => Promise.resolve({ kind: 'merged', commit: 'merged' }),
  tip: () => Promise.resolve('base'),
  prepareMerge: ({ onto }) =>
    Promise.resolve({
      kind: 'prepared',
      target: { commit: onto, tree: 'tree', parents: [] },
      head: { commit: 'head', tree: 'tree', parents: [] },
      commit: 'merged',
      tree: 'merged-tree',
    }),
  moveTarget: () => Promise.resolve({ kind: 'moved' }),
  fastForward: () => Promise.resolve({ kind: 'moved' }),
  treeOf: () => Promise.resolve('tree'),
  undoMerge: () => Promise.resolve({ kind: 'moved' }),
  revertMerge: () => Promise.resolve({ kind: 'nothing_to_do' }),
  hasCommit: () => Promise.resolve(true),
  mergeTouches: () => Promise.resolve(false),
  landedSince: () => Promise.resolve([]),
  patchOf: () => Promise.resolve(''),
  runTraces: () => Promise.resolve({ notes: [], places: [] }),
  settleHead: () => Promise.resolve({ taken: null, place: null }),
  leftWork: () => Promise.resolve([]),
  rewrittenBase: () => Promise.resolve(null),
  takeWork: () => Promise.resolve({ kind: 'taken' }),
  leaveWork: () => Promise.resolve(),
  keepCommit: () => Promise.resolve(),
  replaceWork: () => Promise.resolve(),
  ignoredSince: () => Promise.resolve([]),
  remove: () => Promise.resolve(),
  lock: () => Promise.resolve(null),
  unlock: () => Promise.resolve(),
  readLock: () => Promise.resolve(null),
  releaseStaleLocks: () => Promise.resolve([]),
  finishMerges: () => Promise.resolve(),
  isKnownTo: () => Promise.resolve(true),
  relink: () => Promise.resolve(),
  arePortsFree: () => Promise.resolve(true),
  answeringPorts: () => Promise.resolve([]),
  conflicts: ({ branch, base_branch }) =>
    Promise.resolve({
      branch,
      head_commit: 'head',
      base_branch,
      base_commit: 'base',
      files: [],
      hunks: [],
      base_changes: [],
    }),
  restack: () => Promise.resolve({ kind: 'up_to_date', head: 'head', onto: 'base' }),
  updateBranch: () => Promise.resolve({ kind: 'up_to_date', head: 'head', base: 'base' }),
  rescues: () => Promise.resolve([]),
  rescueDiff: () => Promise.resolve(emptyDiff),
  restoreRescue: () => Promise.resolve(null),
  deleteRescue: () => Promise.resolve(false),
  expireRescues: () => Promise.resolve([]),
  orphans: () => Promise.resolve([]),
  describeOrphan: () => Promise.resolve(null),
  removeOrphan: () => Promise.reject(new Error('There is no orphan.')),
  sameRepository: () => Promise.resolve(false),
  readTips: () => Promise.resolve(new Map()),
  readBaseConflicts: () => Promise.resolve([]),
  readOverlaps: () => Promise.resolve([]),
  forgetOverlaps: () => Promise.resolve(),
  forkPoint: () => Promise.resolve('base'),
}

/** No task of the model has a file. */
export const fakeAttachmentFiles: AttachmentFiles = {
  put: (_data, keep) => Promise.resolve(keep({ sha256: '', size: 0, media_type: '' })),
  read: () => Promise.resolve(null),
  removeUnneeded: () => Promise.resolve(),
  sweep: () => Promise.resolve(),
  copyInto: () => Promise.resolve(),
}
