import { z } from 'zod'
import type { ForgeRepository, MergeMethod } from '../../../ports/forges.ts'
import type { Github } from './github.ts'
import { readRules } from './rules.ts'

const Flag = z.boolean().nullish().catch(null)

export const RepositoryFields = z.looseObject({
  full_name: z.string(),
  clone_url: z.string(),
  ssh_url: z.string().nullish().catch(null),
  default_branch: z.string(),
  archived: z.boolean().catch(false),
  private: z.boolean().catch(true),
  permissions: z.looseObject({ push: Flag }).nullish().catch(null),
  // Told only to those who may push.
  allow_merge_commit: Flag,
  allow_squash_merge: Flag,
  allow_rebase_merge: Flag,
  allow_auto_merge: Flag,
})
export type RepositoryFields = z.infer<typeof RepositoryFields>

export async function readRepository(github: Github): Promise<ForgeRepository> {
  const fields = await github.get('', RepositoryFields)
  const { full_name, clone_url, ssh_url, default_branch, archived, permissions } = fields
  const rules = await readRules(github, default_branch)
  const methods = allowed(fields).filter((method) => rules?.methods?.includes(method) ?? true)
  return {
    full_name,
    clone_url,
    ssh_url: ssh_url ?? null,
    default_branch,
    archived,
    may_push: permissions?.push ?? null,
    methods,
  }
}

/** In the order in which GitHub's page offers them. */
function allowed({ allow_merge_commit, allow_squash_merge, allow_rebase_merge }: RepositoryFields) {
  const methods: readonly [MergeMethod, boolean | null | undefined][] = [
    ['merge', allow_merge_commit],
    ['squash', allow_squash_merge],
    ['rebase', allow_rebase_merge],
  ]
  return methods.flatMap(([method, isAllowed]) => (isAllowed === false ? [] : [method]))
}
