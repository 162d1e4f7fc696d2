const permissionNames: Readonly<Record<string, string>> = {
  actions: 'Actions',
  checks: 'Checks',
  contents: 'Contents',
  issues: 'Issues',
  metadata: 'Metadata',
  pull_requests: 'Pull requests',
  statuses: 'Commit statuses',
  workflows: 'Workflows',
}

/** Names the permissions of a fine-grained token as its page does: `pull_requests=write; contents=read` are two choices. */
export function acceptedPermissions(header: string | null): string | null {
  const choices = (header ?? '')
    .split(';')
    .map((choice) => choice.split(',').map(permissionText).filter(Boolean).join(' and '))
    .filter((choice) => choice !== '')
  return choices.length === 0 ? null : choices.join(' or ')
}

function permissionText(permission: string): string {
  const [name = '', level = ''] = permission.trim().split('=')
  if (!/^[a-z_]+$/.test(name)) return ''
  return `${permissionNames[name] ?? name}: ${level === 'write' ? 'read and write' : 'read'}`
}

/** Names the scopes of a classic token, of which each one is enough. */
export function acceptedScopes(header: string | null): string | null {
  const scopes = (header ?? '')
    .split(',')
    .map((scope) => scope.trim())
    .filter((scope) => /^[a-z_:]+$/.test(scope))
  return scopes.length === 0 ? null : `${scopes.join(' or ')} (classic)`
}

export type Area = 'metadata' | 'pulls' | 'contents' | 'issues' | 'checks' | 'statuses' | 'actions' | 'workflows'

interface Right {
  readonly area: Area
  readonly right: string
  readonly needed_for: string
}

/** What a token needs, as the pages that make tokens name it. */
export const rights: readonly Right[] = [
  {
    area: 'metadata',
    right: 'Metadata: read (fine-grained) or repo (classic)',
    needed_for: 'finding the repository',
  },
  {
    area: 'pulls',
    right: 'Pull requests: read and write (fine-grained) or repo (classic)',
    needed_for: 'opening, reading and updating pull requests, and answering reviews',
  },
  {
    area: 'contents',
    right: 'Contents: read and write (fine-grained) or repo (classic)',
    needed_for: 'pushing over HTTP, merging, and resolving threads',
  },
  {
    area: 'issues',
    right: 'Issues: read and write (fine-grained) or repo (classic)',
    needed_for: 'comments, labels and closing issues',
  },
  {
    area: 'checks',
    right: 'repo (classic); fine-grained tokens can’t have it',
    needed_for: 'seeing the checks of all apps',
  },
  {
    area: 'statuses',
    right: 'Commit statuses: read (fine-grained) or repo (classic)',
    needed_for: 'seeing the checks that are commit statuses',
  },
  {
    area: 'actions',
    right: 'Actions: read and write (fine-grained) or repo (classic)',
    needed_for: 'seeing jobs and their logs, and running jobs again',
  },
  {
    area: 'workflows',
    right: 'Workflows: read and write (fine-grained) or workflow (classic)',
    needed_for: 'pushing changes of workflow files',
  },
]
