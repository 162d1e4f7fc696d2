import type { ForgeCheck, ForgeChecks, Pull } from '../../../ports/forges.ts'
import { toCheck, type Reported } from './reported-check.ts'
import { readProtection, readRules, type RequiredCheck } from './rules.ts'
import { readReported } from './reported-checks.ts'
import type { Github } from './github.ts'

/** Returns the checks of a pull request's head, with required ones that are not reported yet. */
export async function readChecks(
  github: Github,
  { head, target }: Pick<Pull, 'head' | 'target'>,
): Promise<ForgeChecks> {
  const { seen, reported } = await readReported(github, head.commit)
  const required = await readRequired(github, target)
  const checks = reported.map((check) => toCheck(check, isRequired(required, check)))
  const missing = required.checks.filter((one) => !reported.some((check) => matches(one, check)))
  return { seen, checks: [...checks, ...distinct(missing).map(expected)] }
}

export async function readChecksOf(github: Github, commit: string): Promise<readonly ForgeCheck[]> {
  const { reported } = await readReported(github, commit)
  return reported.map((check) => toCheck(check, null))
}

interface Required {
  readonly checks: readonly RequiredCheck[]
  /** Whether nothing else can be required. */
  readonly isAll: boolean
}

async function readRequired(github: Github, target: string): Promise<Required> {
  const rules = await readRules(github, target)
  const protection = await readProtection(github, target)
  return {
    checks: [...(rules?.checks ?? []), ...(protection ?? [])],
    isAll: rules !== null && protection !== null && !rules.requiresWorkflow,
  }
}

function isRequired({ checks, isAll }: Required, check: Reported): boolean | null {
  if (checks.some((one) => matches(one, check))) return true
  return isAll && checks.length > 0 ? false : null
}

/** A commit status doesn't tell its app, so that its name has to do. */
function matches({ name, app }: RequiredCheck, check: Reported): boolean {
  return name === check.name && (app === null || check.app === null || app === check.app)
}

const distinct = (checks: readonly RequiredCheck[]) => [...new Set(checks.map(({ name }) => name))]

const expected = (name: string): ForgeCheck => ({ name, state: 'queued', required: true, url: null, job: null })
