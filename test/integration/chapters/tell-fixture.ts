import type { ChaptersByRules } from '../../../src-main/chapters/rules/build-chapters.ts'
import type { ChangedSource } from '../../../src-main/chapters/rules/facts.ts'
import { tellByRules } from '../../../src-main/chapters/tell-by-rules.ts'
import type { SyntaxReader } from '../../../src-main/ports/syntax-reader.ts'
import { createFixture, never, type WorkspaceFixture } from '../git/workspace-fixture.ts'

/** A repository with these files, and a worktree of a task in it. */
export async function withWorktree(files: Record<string, string | Uint8Array>): Promise<WorkspaceFixture> {
  const fixture = await createFixture({ files })
  await fixture.workspaces.ensure(fixture.request(), never)
  return fixture
}

/** Returns the chapters of the work in a worktree, and its files in git's order. */
export async function tellFixture(
  { workspaces, ref }: WorkspaceFixture,
  syntax: SyntaxReader,
): Promise<ChaptersByRules & { readonly files: readonly ChangedSource[] }> {
  const { base_tree, files } = await workspaces.sources(ref(), () => false, never)
  const told = await tellByRules(files ?? [], {
    syntax,
    wordsInBase: (words) => workspaces.wordsIn(ref(), base_tree, words, never),
    onlyIgnored: (paths) => workspaces.onlyIgnored(ref(), paths, never),
    hasSecret: () => false,
    risky_paths: [],
    ...never,
  })
  return { ...told, files: files ?? [] }
}
