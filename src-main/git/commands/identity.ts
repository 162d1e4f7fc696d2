import { runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'

const fallbackName = 'Copse'
const fallbackEmail = 'copse@localhost'

/** Returns `-c` options that give git an identity if neither its configuration nor the environment has one. */
export async function identityOptions(cwd: string, { signal }: Pick<GitOptions, 'signal'>): Promise<readonly string[]> {
  const { stdout } = await runGit(cwd, ['config', '--name-only', '--get-regexp', '^user\\.(name|email)$'], {
    signal,
    accept: [0, 1],
  })
  const configured = stdout.toString('utf8').split('\n')
  const options: string[] = []
  if (!configured.includes('user.name')) options.push('-c', `user.name=${fallbackName}`)
  if (!configured.includes('user.email')) options.push('-c', `user.email=${fallbackEmail}`)
  return options
}
