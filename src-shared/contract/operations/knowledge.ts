import { z } from 'zod'
import { KnowledgeId, ProjectId } from '../ids.ts'
import { KnowledgeEntry, KnowledgeFields, KnowledgeStatus } from '../knowledge.ts'
import { del, get, page, paginated, patch, post } from '../operation.ts'

export const knowledgeOperations = {
  'knowledge.list': get(
    '/projects/{project_id}/knowledge',
    'member',
    'What is known about a project: newest first, or by relevance to `q`. `status=proposed` lists what runs proposed; a run sees only the proposals of its own task.',
    z.object({
      project_id: ProjectId,
      q: z.string().max(500).optional(),
      status: KnowledgeStatus.default('accepted'),
      ...page(),
    }),
    paginated(KnowledgeEntry),
  ),
  'knowledge.create': post(
    '/projects/{project_id}/knowledge',
    'member',
    'Write down something worth knowing. What a run writes is a proposal until a person accepts it.',
    z.object({ project_id: ProjectId, ...KnowledgeFields.shape }),
    KnowledgeEntry,
    201,
    ['rate_limited'],
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
  'knowledge.accept': post(
    '/knowledge/{knowledge_id}/accept',
    'member_human',
    'Accept a proposal, with another title or body if given. Agents get it from then on.',
    z.object({ knowledge_id: KnowledgeId, ...KnowledgeFields.partial().shape }),
    KnowledgeEntry,
  ),
  'knowledge.delete': del(
    '/knowledge/{knowledge_id}',
    'member_human',
    'Delete an entry, or reject a proposal.',
    z.object({ knowledge_id: KnowledgeId }),
  ),
} as const
