import { z } from 'zod'
import { ProjectId, RunnerId } from '../ids.ts'
import { del, get, list, patch, post } from '../operation.ts'
import { RunnerTrust, Sha256 } from '../runner-trust.ts'
import { NewRunnerKind, Runner, RunnerCheckStep, RunnerFields } from '../runners.ts'

const ofRunner = { runner_id: RunnerId }
const { name, config, ...options } = RunnerFields.shape

export const runnersOperations = {
  'runners.list': get('/runners', 'human', 'The runners: where runs can happen.', z.object({}), list(Runner)),
  'runners.get': get('/runners/{runner_id}', 'human', 'A runner.', z.object(ofRunner), Runner),
  'runners.create': post(
    '/runners',
    'admin',
    'Add a runner. Its check starts immediately; runs start there once it is ready.',
    z.object({ name, kind: NewRunnerKind, config, ...z.object(options).partial().shape }),
    Runner,
    201,
  ),
  'runners.update': patch(
    '/runners/{runner_id}',
    'admin',
    'Change a runner. Another `config` replaces the whole one and is checked; it needs a runner without runs.',
    z.object({ ...ofRunner, ...RunnerFields.partial().shape }),
    Runner,
    ['runner_busy'],
  ),
  'runners.delete': del(
    '/runners/{runner_id}',
    'admin',
    'Remove a runner that has no runs and that no agent, project or queued run names.',
    z.object(ofRunner),
    ['runner_busy'],
  ),
  'runners.check': post(
    '/runners/{runner_id}/check',
    'admin',
    'Check whether runs can start on a runner, and say what to fix. A check that runs already is joined.',
    z.object(ofRunner),
    z.object({ runner: Runner, steps: z.array(RunnerCheckStep) }),
  ),
  'runners.trust': post(
    '/runners/{runner_id}/trust',
    'admin',
    'Let the dev container of a project reach the machine of a runner, as the refusal `runner_needs_trust` says it wants to.',
    z.object({ ...ofRunner, project_id: ProjectId, sha256: Sha256 }),
    RunnerTrust,
  ),
} as const
