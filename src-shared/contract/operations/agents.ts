import { z } from 'zod'
import { AgentId } from '../ids.ts'
import { get, post, patch, del, list } from '../operation.ts'
import { Agent, AgentConfig, DetectedAgent, executorProfiles } from '../projects.ts'

export const agentsOperations = {
  'agents.list': get(
    '/agents',
    'anyone',
    'The agents that may work in the caller’s projects.',
    z.object({}),
    list(Agent),
  ),
  'agents.detect': get(
    '/agents/detected',
    'human',
    'Which coding agents are installed on this machine.',
    z.object({}),
    list(DetectedAgent),
  ),
  'agents.create': post(
    '/agents',
    'human',
    'Make an agent.',
    z.object({
      name: z.string().trim().min(1).max(100),
      executor: z.enum(executorProfiles),
      config: AgentConfig.optional(),
    }),
    Agent,
    201,
  ),
  'agents.get': get('/agents/{agent_id}', 'anyone', 'One agent.', z.object({ agent_id: AgentId }), Agent),
  'agents.update': patch(
    '/agents/{agent_id}',
    'human',
    'Rename, configure, pause or resume an agent.',
    z.object({
      agent_id: AgentId,
      name: z.string().trim().min(1).max(100).optional(),
      config: AgentConfig.optional(),
      paused: z.boolean().optional(),
    }),
    Agent,
    ['forbidden'],
  ),
  'agents.delete': del(
    '/agents/{agent_id}',
    'human',
    'Delete an agent that is not at work.',
    z.object({ agent_id: AgentId }),
    ['forbidden', 'already_claimed'],
  ),
} as const
