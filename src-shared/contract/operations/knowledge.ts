import { z } from 'zod'
import { KnowledgeId, ProjectId } from '../ids.ts'
import { KnowledgeEntry, KnowledgeFields } from '../knowledge.ts'
import { del, get, page, paginated, patch, post } from '../operation.ts'

export const knowledgeOperations = {
  'knowledge.list': get(
    '/projects/{project_id}/knowledge',
    'member',
    'What is known about a project: newest first, or by relevance to `q`.',
    z.object({ project_id: ProjectId, q: z.string().max(500).optional(), ...page() }),
    paginated(KnowledgeEntry),
  ),
  'knowledge.create': post(
    '/projects/{project_id}/knowledge',
    'member',
    'Write down something worth knowing.',
    z.object({ project_id: ProjectId, ...KnowledgeFields.shape }),
    KnowledgeEntry,
    201,
  ),
  'knowledge.get': get(
    '/knowledge/{knowledge_id}',
    'member',
    'One entry.',
    z.object({ knowledge_id: KnowledgeId }),
    KnowledgeEntry,
  ),
  'knowledge.update': patch(
    '/knowledge/{knowledge_id}',
    'member_human',
    'Edit an entry.',
    z.object({ knowledge_id: KnowledgeId, ...KnowledgeFields.partial().shape }),
    KnowledgeEntry,
  ),
  'knowledge.delete': del(
    '/knowledge/{knowledge_id}',
    'member_human',
    'Forget an entry.',
    z.object({ knowledge_id: KnowledgeId }),
  ),
} as const
