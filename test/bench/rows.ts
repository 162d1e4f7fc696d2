import type { BenchRow } from './row.ts'
import { agentOutput } from './rows/agent-output.ts'
import { agentsInTurn } from './rows/agents-in-turn.ts'
import { besideSignIns } from './rows/beside-sign-ins.ts'
import { claimToAgentStart } from './rows/claim-to-agent-start.ts'
import { claimToFirstFile } from './rows/claim-to-first-file.ts'
import { diffRow, firstDiffRow } from './rows/diff.ts'
import { chaptersRow, firstChaptersRow } from './rows/chapters.ts'
import { containedStarts } from './rows/contained-start.ts'
import { dataFolder } from './rows/data-folder.ts'
import { dryRunRow } from './rows/dry-run.ts'
import { engineWork } from './rows/engine-work.ts'
import { eventsToSubscribers } from './rows/events-to-subscribers.ts'
import { firstBoard } from './rows/first-board.ts'
import { frameRows } from './rows/frames.ts'
import { idleBoard } from './rows/idle-board.ts'
import { idleWaiting } from './rows/idle-waiting.ts'
import { idleWorktrees } from './rows/idle-worktrees.ts'
import { importIssues } from './rows/import-issues.ts'
import { initialScriptRow } from './rows/initial-script.ts'
import { loopDelay } from './rows/loop-delay.ts'
import { landingTen } from './rows/landing-ten.ts'
import { landingRow, mergeRow } from './rows/merge.ts'
import { overlapsIdle, overlapsMatrix } from './rows/overlaps.ts'
import { responseRows } from './rows/page-responses.ts'
import { packedApp } from './rows/packed-app.ts'
import { requestsPerSecond } from './rows/requests-per-second.ts'
import { scriptOutput } from './rows/script-output.ts'
import { scriptOverhead } from './rows/script-overhead.ts'
import { tasksMemory } from './rows/tasks-memory.ts'
import { transitionsPerSecond } from './rows/transitions-per-second.ts'
import { transitionsWithHooks } from './rows/transitions-with-hooks.ts'
import { worktreeCreationRows } from './rows/worktree-creation.ts'

/** Everything that is measured, in the order of the table. */
export const rows: readonly BenchRow[] = [
  transitionsPerSecond,
  transitionsWithHooks,
  engineWork,
  dryRunRow,
  claimToAgentStart,
  claimToFirstFile,
  ...worktreeCreationRows,
  diffRow,
  firstDiffRow,
  firstChaptersRow,
  chaptersRow,
  mergeRow,
  landingRow,
  landingTen,
  importIssues,
  scriptOverhead,
  scriptOutput,
  ...containedStarts,
  agentOutput,
  loopDelay,
  agentsInTurn,
  overlapsMatrix,
  idleWorktrees,
  idleWaiting,
  overlapsIdle,
  idleBoard,
  eventsToSubscribers,
  ...requestsPerSecond,
  besideSignIns,
  initialScriptRow,
  firstBoard,
  ...responseRows,
  ...frameRows,
  tasksMemory,
  dataFolder,
  packedApp,
]
