import type { GitUser } from '../../ports/git-views.ts'
import { runGit, splitNul } from './run-git.ts'
import type { GitOptions } from './run-git.ts'

const fallbackName = 'Copse'
const fallbackEmail = 'copse@localhost'

/** Returns the configured name and email address of commits. */
export async function readUser(cwd: string, { signal }: Pick<GitOptions, 'signal'>): Promise<GitUser> {
  const { stdout } = await runGit(cwd, ['config', '-z', '--get-regexp', '^user\\.(name|email)$'], {
    signal,
    accept: [0, 1],
  })
  // The last value of a name counts.
  const values = new Map(splitNul(stdout).map((entry) => entry.split(/\n(.*)/s) as [string, string]))
  return { name: values.get('user.name') ?? null, email: values.get('user.email') ?? null }
}

/** Returns `-c` options that give git an identity if neither its configuration nor the environment has one. */
export async function identityOptions(cwd: string, { signal }: Pick<GitOptions, 'signal'>): Promise<readonly string[]> {
  const { name, email } = await readUser(cwd, { signal })
  return [
    ...(name === null ? ['-c', `user.name=${fallbackName}`] : []),
    ...(email === null ? ['-c', `user.email=${fallbackEmail}`] : []),
  ]
}

/** Returns who commits in a repository, as git is configured; null if that is no one. */
export async function identityOf(
  cwd: string,
  { signal }: Pick<GitOptions, 'signal'>,
): Promise<{ readonly name: string; readonly email: string } | null> {
  const read = async (key: string): Promise<string> => {
    const { stdout } = await runGit(cwd, ['config', '--get', key], { signal, accept: [0, 1] })
    return stdout.toString('utf8').trim()
  }
  const [name, email] = await Promise.all([read('user.name'), read('user.email')])
  return name === '' || email === '' ? null : { name, email }
}
