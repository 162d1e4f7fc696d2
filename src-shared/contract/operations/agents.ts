import { executorProfiles, permissionPolicies } from '../executor-profiles.ts'
import { z } from 'zod'
import { Account } from '../accounts.ts'
import { AgentTest } from '../agent-tests.ts'
import { HomePlace } from '../containment.ts'
import { AgentId } from '../ids.ts'
import { AgentDays } from '../limits.ts'
import { get, post, patch, del, list } from '../operation.ts'
import { Agent, AgentFields, AgentSignIn, DetectedAgent } from '../projects.ts'

export const agentsOperations = {
  'agents.list': get(
    '/agents',
    'anyone',
    'The agents that can work in the caller’s projects.',
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
    z.object({ ...AgentFields.partial({ config: true }).shape, executor: z.enum(executorProfiles) }),
    Agent,
    201,
  ),
  'agents.get': get('/agents/{agent_id}', 'anyone', 'One agent.', z.object({ agent_id: AgentId }), Agent),
  'agents.update': patch(
    '/agents/{agent_id}',
    'human',
    'Rename, configure, pause or resume an agent.',
    z.object({ agent_id: AgentId, ...AgentFields.partial().shape, paused: z.boolean().optional() }),
    Agent,
    ['forbidden'],
  ),
  'agents.check_args': post(
    '/agents/check_args',
    'human',
    'Which of these arguments an agent of this kind would not get, because they are not its to set.',
    z.object({
      executor: z.enum(executorProfiles),
      args: z.array(z.string()).max(100),
      permissions: z.enum(permissionPolicies).optional(),
    }),
    z.object({ refused: z.array(z.string()) }),
  ),
  'agents.test': post(
    '/agents/{agent_id}/test',
    'human',
    'Start an agent once in an empty folder and ask it for one word, to see whether it starts, is signed in and answers.',
    z.object({ agent_id: AgentId }),
    AgentTest,
    200,
    ['forbidden', 'not_claimable'],
  ),
  'agents.home': get(
    '/agents/{agent_id}/home',
    'human',
    'What the contained runs of an agent wrote to its private home, which they have in the place of yours.',
    z.object({ agent_id: AgentId }),
    list(HomePlace),
    ['forbidden'],
  ),
  'agents.keep': post(
    '/agents/{agent_id}/home/keep',
    'human',
    'Keep what contained runs of an agent wrote to its private home: it is copied to your home if that has none, and ' +
      'later runs use it there.',
    z.object({ agent_id: AgentId, paths: z.array(z.string().max(4_096)).min(1).max(100) }),
    Agent,
    200,
    ['forbidden'],
  ),
  'agents.delete': del(
    '/agents/{agent_id}',
    'human',
    'Delete an agent that is not running.',
    z.object({ agent_id: AgentId }),
    ['forbidden', 'already_claimed'],
  ),
  'agents.sign_ins': get(
    '/agents/sign_ins',
    'human',
    'Whether the program of each agent on this machine is there and signed in, as far as it tells, with the agent’s own ' +
      'settings; and what to run where it is not.',
    z.object({}),
    list(AgentSignIn),
  ),
  'agents.limits': get(
    '/agents/limits',
    'human',
    'What each agent that the caller sees has used today, in all projects, and how far its own limits are used.',
    z.object({}),
    AgentDays,
  ),
  'accounts.list': get(
    '/accounts',
    'human',
    'The accounts of the agents that the caller sees, with what their providers have told of them.',
    z.object({}),
    list(Account),
  ),
} as const
