import type { Queries, Store } from '../ports/store.ts'
import { createAttachmentQueries } from './attachments.ts'
import { createAccountQueries } from './accounts.ts'
import { createChapterProposalQueries } from './chapter-proposals.ts'
import { createCommentQueries } from './comments.ts'
import { createDaemonQueries } from './daemons.ts'
import type { OpenDatabase } from './database.ts'
import { createDependencyQueries } from './dependencies.ts'
import { createEffectQueries, createEventQueries } from './events.ts'
import { createExecutionQueries } from './executions.ts'
import { createExternalLinkQueries } from './external-links.ts'
import { createIntegrationQueries, createSecretHostQueries } from './integrations.ts'
import { createJobQueries } from './jobs.ts'
import { createKnowledgeQueries } from './knowledge.ts'
import { createMemberQueries } from './members.ts'
import { createPendingHookQueries } from './pending-hooks.ts'
import { createNotificationQueries } from './notifications.ts'
import { createAgentQueries, createProjectQueries, createRepoQueries } from './projects.ts'
import { shrinkFile } from './free-pages.ts'
import { createBaseHealthQueries } from './base-health.ts'
import { createBaseConflictQueries } from './base-conflicts.ts'
import { createOverlapQueries } from './overlaps.ts'
import { createForgeIntentQueries, createPullRequestQueries } from './pull-requests.ts'
import { createReviewQueries } from './reviews.ts'
import { createRunnerQueries, createRunnerTrustQueries } from './runners.ts'
import { createTaskTemplateQueries } from './task-templates.ts'
import { createTaskQueries } from './tasks.ts'
import { createTransitionQueries } from './transitions.ts'
import { createUsageQueries } from './usage.ts'
import { createViewedFileQueries } from './viewed-files.ts'
import { createWorkspaceQueries } from './workspaces.ts'
import type { Database } from './database-type.ts'
import { prepareGet, prepareUpsert } from './prepared-statements.ts'
import { trustedRepositories } from './schema/reviews.ts'

/** Creates the engine's store on an open database, which it closes. */
export function createStore(database: OpenDatabase): Store {
  const { db } = database
  const queries: Queries = {
    projects: createProjectQueries(db),
    repos: createRepoQueries(db),
    trusted_repositories: createTrustedRepositoryQueries(db),
    agents: createAgentQueries(db),
    tasks: createTaskQueries(db),
    dependencies: createDependencyQueries(db),
    transitions: createTransitionQueries(db),
    accounts: createAccountQueries(db),
    executions: createExecutionQueries(db),
    usage: createUsageQueries(db),
    reviews: createReviewQueries(db),
    base_health: createBaseHealthQueries(db),
    overlaps: createOverlapQueries(),
    base_conflicts: createBaseConflictQueries(),
    workspaces: createWorkspaceQueries(db),
    events: createEventQueries(db),
    effects: createEffectQueries(db),
    pendingHooks: createPendingHookQueries(db),
    comments: createCommentQueries(db),
    attachments: createAttachmentQueries(db),
    task_templates: createTaskTemplateQueries(db),
    knowledge: createKnowledgeQueries(db),
    notifications: createNotificationQueries(db),
    integrations: createIntegrationQueries(db),
    pull_requests: createPullRequestQueries(db),
    forge_intents: createForgeIntentQueries(db),
    secret_hosts: createSecretHostQueries(db),
    external_links: createExternalLinkQueries(db),
    viewed_files: createViewedFileQueries(db),
    chapter_proposals: createChapterProposalQueries(db),
    daemons: createDaemonQueries(db),
    runners: createRunnerQueries(db),
    runner_trust: createRunnerTrustQueries(db),
    jobs: createJobQueries(db),
    members: createMemberQueries(db),
  }
  return {
    read: queries,
    write: (work) => database.transaction(() => work(queries)),
    checkpoint: () => database.checkpoint(),
    shrink: () => shrinkFile(db.$client),
    close: () => {
      database.close()
    },
  }
}

function createTrustedRepositoryQueries(db: Database): Queries['trusted_repositories'] {
  return {
    get: prepareGet(db, trustedRepositories, trustedRepositories.common),
    put: prepareUpsert(db, trustedRepositories, trustedRepositories.common),
  }
}
