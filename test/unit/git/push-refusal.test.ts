import { describe, expect, test } from 'vitest'
import { readableOutput, readRefusal } from '../../../src-main/git/push/push-refusal.ts'

/** What git says of a refused branch: on stderr, and on stdout with `--porcelain`. */
const refused = (reason: string, ...server: readonly string[]) =>
  [
    'Writing objects: 100% (413/413), 413 bytes | 413.00 KiB/s, done.',
    ...server.map((line) => `remote: ${line}        `),
    "error: failed to push some refs to 'https://git.example.com/acme/shop.git'",
    'To https://git.example.com/acme/shop.git',
    `!\trefs/heads/task:refs/heads/task\t${reason}`,
    'Done',
  ].join('\n')
const declined = (...server: readonly string[]) => refused('[remote rejected] (pre-receive hook declined)', ...server)
const noAccess = (status: number, ...server: readonly string[]) =>
  [
    ...server.map((line) => `remote: ${line}`),
    `fatal: unable to access 'https://git.example.com/acme/shop.git/': The requested URL returned error: ${status}`,
  ].join('\n')
const overSsh = (...lines: readonly string[]) =>
  [
    ...lines,
    'fatal: Could not read from remote repository.',
    '',
    'Please make sure you have the correct access rights',
    'and the repository exists.',
  ].join('\n')

const reasons: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  protected: {
    'GitHub, a protected branch': refused(
      '[remote rejected] (protected branch hook declined)',
      'error: GH006: Protected branch update failed for refs/heads/main.',
      'error: At least 1 approving review is required by reviewers with write access.',
    ),
    'GitHub, a rule': refused(
      '[remote rejected] (push declined due to repository rule violations)',
      'error: GH013: Repository rule violations found for refs/heads/main.',
      'Review all repository rules at https://github.com/acme/shop/rules?ref=refs%2Fheads%2Fmain',
      '',
      '- Changes must be made through a pull request.',
    ),
    'GitHub, a path that is restricted': refused(
      '[remote rejected] (push declined due to repository rule violations)',
      'error: GH013: Repository rule violations found for refs/heads/task.',
      '- GITHUB PUSH PROTECTION',
      '  - File path is restricted',
    ),
    'GitHub, no force': refused(
      '[remote rejected] (pre-receive hook declined)',
      'error: GH003: Sorry, force-pushing to main is not allowed.',
    ),
    GitLab: declined('GitLab: You are not allowed to push code to protected branches on this project.'),
    'GitLab, no force': declined(
      'GitLab: You are not allowed to force push code to a protected branch on this project.',
    ),
    Gitea: declined('', 'error: Not allowed to push to protected branch main'),
    'Gitea, no force': declined('', 'error: branch main is protected from force push'),
    'Forgejo, files': declined('', 'error: branch main is protected from changing file .forgejo/x.yml'),
    'git itself': refused(
      '[remote rejected] (non-fast-forward)',
      'error: denying non-fast-forward refs/heads/task (you should pull first)',
    ),
  },
  workflow_scope: {
    'a token': refused(
      '[remote rejected] (refusing to allow a Personal Access Token to create or update workflow `.github/workflows/ci.yml` without `workflow` scope)',
    ),
    'an app with OAuth': refused(
      '[remote rejected] (refusing to allow an OAuth App to create or update workflow `.github/workflows/ci.yml` without `workflow` scope)',
    ),
    'an app': refused(
      '[remote rejected] (refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml` without `workflows` permission)',
    ),
  },
  secret: {
    'GitHub, a rule': refused(
      '[remote rejected] (push declined due to repository rule violations)',
      'error: GH013: Repository rule violations found for refs/heads/task.',
      '',
      '- GITHUB PUSH PROTECTION',
      '  —————————————————————————————————————————',
      '    Resolve the following violations before pushing again',
      '',
      '    - Push cannot contain secrets',
      '',
      '     (?) To push, remove secret from commit(s) or follow this URL to allow the secret.',
    ),
    'GitHub, before': declined('error: GH009: Secrets detected! This push failed.'),
    GitLab: declined('PUSH BLOCKED: Secrets detected in code changes'),
  },
  too_large: {
    GitHub: declined(
      'error: Trace: 00da36c15c30d60ef4cff1f77d874a41',
      'error: See https://gh.io/lfs for more information.',
      "error: File a.zip is 656.59 MB; this exceeds GitHub's file size limit of 100.00 MB",
      'error: GH001: Large files detected. You may want to try Git Large File Storage - https://git-lfs.github.com.',
    ),
    'GitHub, the pack': refused('[remote rejected] (failed)', 'fatal: pack exceeds maximum allowed size (2.00 GiB)'),
    'GitLab, a push rule': declined(
      'GitLab: File "big.bin" is larger than the allowed size of 1 MiB. Use Git LFS to manage this file.',
    ),
    'GitLab, files': declined(
      'GitLab: You are attempting to check in one or more blobs which exceed the 100MiB limit:',
    ),
    'GitLab, the repository': declined(
      'GitLab: Your push has been rejected, because this repository has exceeded its size limit of 10 MB by 5 MB.',
    ),
    Gitea: declined('', 'error: new repo size is over limitation'),
    'Forgejo, a quota': declined('', 'error: Quota exceeded'),
    'a proxy': [
      'error: RPC failed; HTTP 413 curl 22 The requested URL returned error: 413',
      'send-pack: unexpected disconnect while reading sideband packet',
      'fatal: the remote end hung up unexpectedly',
    ].join('\n'),
  },
  moved: {
    'a commit that is not here': refused('[rejected] (fetch first)'),
    'a commit that is here': refused('[rejected] (non-fast-forward)'),
    'a lease': refused('[rejected] (stale info)'),
    'at the last moment': refused(
      '[remote rejected] (failed to update ref)',
      "error: cannot lock ref 'refs/heads/task': is at 1b8a but expected 0000",
    ),
    'at the last moment, git 2.47': refused('[remote rejected] (incorrect old value provided)'),
  },
  hook: {
    'of the server': declined('GitLab: Commit message does not follow the pattern "JIRA-\\d+"'),
    'for this branch': refused('[remote rejected] (hook declined)', 'no'),
    'GitLab, LFS': declined(
      'GitLab: LFS objects are missing. Ensure LFS is properly set up or try a manual "git lfs push --all".',
    ),
  },
  other: {
    'a name in the way': refused(
      '[remote rejected] (failed to update ref)',
      "error: cannot lock ref 'refs/heads/task/x': 'refs/heads/task' exists; cannot create 'refs/heads/task/x'",
    ),
    'a full disk': refused('[remote rejected] (unpacker error)', 'fatal: write error: No space left on device'),
    'a warning beside it': refused(
      '[remote rejected] (internal server error)',
      'warning: GH001: Large files detected. You may want to try Git Large File Storage.',
      'warning: File a.obj is 62.69 MB; this is larger than the recommended maximum file size of 50.00 MB',
    ),
    'no word at all': '',
  },
}

describe.each(Object.entries(reasons))('a push is refused: %s', (reason, said) => {
  test.each(Object.entries(said))('%s', (_name, text) => {
    expect(readRefusal(text)).toEqual({ code: 'rejected', reason })
  })
})

const codes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  unauthorized: {
    'a wrong token':
      "remote: Invalid username or token.\nfatal: Authentication failed for 'https://github.com/a/b.git/'",
    'GitLab, a wrong token':
      "remote: HTTP Basic: Access denied\nfatal: Authentication failed for 'https://gitlab.com/a/b.git/'",
    'no sign-in': "fatal: could not read Username for 'https://github.com': terminal prompts disabled",
    'no password': "fatal: could not read Password for 'https://me@github.com': terminal prompts disabled",
    'no key': overSsh('git@github.com: Permission denied (publickey).'),
  },
  forbidden: {
    GitHub: noAccess(403, 'Permission to acme/shop.git denied to someone.'),
    'GitHub, a fine-grained token': noAccess(403, 'Write access to repository not granted.'),
    'GitHub, single sign-on': noAccess(
      403,
      "The `acme' organization has enabled or enforced SAML SSO. To access this repository, you must re-authorize.",
    ),
    'GitHub, SSH': overSsh('ERROR: Permission to acme/shop.git denied to someone.'),
    'GitHub, a key': overSsh('ERROR: The key you are authenticating with has been marked as read only.'),
    GitLab: noAccess(403, 'You are not allowed to push code to this project.'),
    'GitLab, a hook': declined('GitLab: You are not allowed to push code to this project.'),
    'Gitea, a hook': declined('', 'error: User permission denied for writing.'),
    'Gitea, SSH': overSsh('Gitea: User: 2:someone with Key: 1:laptop is not authorized to write to acme/shop.'),
  },
  archived: {
    GitHub: noAccess(403, 'This repository was archived so it is read-only.'),
    'GitHub, SSH': overSsh('ERROR: This repository was archived so it is read-only.'),
    Gitea: noAccess(403, 'repository is archived'),
  },
  not_found: {
    GitHub: "remote: Repository not found.\nfatal: repository 'https://github.com/acme/shop.git/' not found",
    'GitHub, SSH': overSsh('ERROR: Repository not found.'),
    GitLab: overSsh(
      "remote: ERROR: The project you were looking for could not be found or you don't have permission to view it.",
    ),
    'Gitea, SSH': overSsh(
      'Gitea: Unknown git command',
      "fatal: 'acme/shop.git' does not appear to be a git repository",
    ),
    'a server without words': noAccess(404),
  },
  unreachable: {
    'no such host': "fatal: unable to access 'https://nowhere.example/': Could not resolve host: nowhere.example",
    'no server':
      "fatal: unable to access 'http://127.0.0.1:9/': Failed to connect to 127.0.0.1 port 9: Connection refused",
    'no trust':
      "fatal: unable to access 'https://lab/': server certificate verification failed. CAfile: none CRLfile: none",
    'no such host, SSH': overSsh('ssh: Could not resolve hostname nowhere.example: Name or service not known'),
    'an unknown key of the host': overSsh('Host key verification failed.'),
    'a broken connection': 'error: RPC failed; curl 56 Recv failure\nfatal: the remote end hung up unexpectedly',
    'a broken server': noAccess(502),
    'too many requests': noAccess(429),
  },
}

describe.each(Object.entries(codes))('a remote can’t be pushed to: %s', (code, said) => {
  test.each(Object.entries(said))('%s', (_name, text) => {
    expect(readRefusal(text)).toEqual({ code, reason: null })
  })
})

describe('what is read of the output', () => {
  const plain = (text: string) => text

  test('the words of the server, without progress, hints and prefixes', () => {
    const said = [
      'Enumerating objects: 5, done.',
      'Writing objects:  50% (1/2)\rWriting objects: 100% (2/2), 413 bytes | 413.00 KiB/s, done.',
      'remote: Resolving deltas: 100% (1/1)\rremote: Resolving deltas: 100% (1/1), done.        ',
      'remote: error: GH006: Protected branch update failed for refs/heads/main.        ',
      'remote: ',
      'remote: ',
      'remote: ',
      'remote:   - 3 of 3 required status checks are expected.        ',
      'To https://github.com/acme/shop.git',
      'hint: See the notes',
      "error: failed to push some refs to 'https://github.com/acme/shop.git'",
    ].join('\n')
    expect(readableOutput(said, plain)).toBe(
      'error: GH006: Protected branch update failed for refs/heads/main.\n\n  - 3 of 3 required status checks are expected.',
    )
  })

  test('the end of a long text, in whole lines and characters', () => {
    const long = readableOutput(`${'ä\n'.repeat(10_000)}end`, plain)
    expect(Buffer.byteLength(long)).toBeLessThanOrEqual(8 * 1024)
    expect(long).toMatch(/^(?:ä\n)+end$/)
    const oneLine = readableOutput(`x${'€'.repeat(10_000)}`, plain)
    expect(Buffer.byteLength(oneLine)).toBeLessThanOrEqual(8 * 1024)
    expect(oneLine).toMatch(/^€+$/)
  })
})
