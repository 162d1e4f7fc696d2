import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ProjectId } from '../../src-shared/contract/ids.ts'
import { toIntegration } from '../integrations/to-integration.ts'
import { bindBeforeSending } from '../integrations/secret-bindings.ts'
import { notFound } from '../domain/refusal.ts'
import type { TokenCheck } from '../ports/forges.ts'
import { refusalOf } from './forge-errors.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'

/** Asks what a project's token may do at its forge, by reading alone, and keeps the answer with the integration. */
export async function checkToken(
  { context }: PullRequestDeps,
  project_id: ProjectId,
  signal: AbortSignal,
): Promise<TokenCheck | Refusal> {
  const asked = context.store.read.integrations.byProject(project_id)
  if (!asked) return notFound('integration')
  try {
    bindBeforeSending(context, asked)
    const check = await context.forges.check(asked, { signal })
    context.feed.commit((tx) => {
      const record = tx.integrations.byProject(project_id)
      // Of another token or repository it says nothing.
      if (!record || record.updated_at !== asked.updated_at) return
      const { can, token_expires_at } = check
      const next = { ...record, can, token_expires_at }
      tx.integrations.put(next)
      const integration = toIntegration(next, false)
      tx.emit('integration.updated', { project_id, integration_id: record.id, integration })
    })
    return check
  } catch (error) {
    return refusalOf(error)
  }
}
