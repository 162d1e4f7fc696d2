import {
  ArrowLeftRight,
  Check,
  ClipboardCheck,
  GitMerge,
  GitPullRequest,
  GitPullRequestArrow,
  History,
  Hourglass,
  RotateCcw,
  RotateCw,
  Square,
  SquarePen,
  Undo2,
  Wrench,
} from '@lucide/vue'
import type { Component } from 'vue'
import type { DecisionId } from '../model/decision-action.ts'

/** The icon of each decision. */
export const decisionIcons: Readonly<Record<DecisionId, Component>> = {
  merge: GitMerge,
  approve: Check,
  request_changes: Undo2,
  resolve: Wrench,
  resolve_editor: SquarePen,
  retry: RotateCw,
  see: ClipboardCheck,
  move: ArrowLeftRight,
  stop: Square,
  unmerge: RotateCcw,
  revert: History,
  open_pull: GitPullRequestArrow,
  ready_pull: GitPullRequest,
  merge_pull: GitMerge,
  merge_pull_later: Hourglass,
  reopen_pull: GitPullRequest,
  await_pull: GitPullRequest,
}
