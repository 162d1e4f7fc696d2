import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createSocketServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDataFolders } from '../../../src-main/containment/data-folders.ts'
import type { ContainmentLevel } from '../../../src-shared/contract/containment.ts'
import { tryIn, type Attempt } from './attempts.ts'
import { containmentIn, folderOutside, isContainable } from './test-containment.ts'

const root = folderOutside('containment')
const home = join(root, 'home')
const data = join(root, 'data')
const repo = join(root, 'repo')
const worktree = join(data, 'workspaces', 'own')
const other = join(data, 'workspaces', 'other')
const outside = join(root, 'outside')
const otherCopse = join(root, 'other-copse')
/** Shared memory of the person. */
let segment: string | undefined
const strange = join(tmpdir(), `copse-strange-${process.pid}`)
const socket = join(strange, 'agent.sock')
const homeBefore = process.env['HOME']

const copse = createServer((_, response) => response.end('copse'))
const stranger = createServer((_, response) => response.end('stranger'))
/** A host on a run's list. */
const listed = createServer((_, response) => response.end('listed'))
const agent = createSocketServer((connection) => connection.end('agent'))
const urlOf = (server: typeof copse) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const portOf = (server: typeof copse) => (server.address() as AddressInfo).port

const containment = containmentIn(root, {
  otherData: createDataFolders(data, join(home, '.local/share/copse')),
  credentials: () => ['~/.claude', '/', '~', data],
  apiUrl: () => urlOf(copse),
})
const status = containment.status()
if (!status.available) console.warn(`Containment is not tested: ${status.reason ?? ''}`)
const runnable = isContainable(containment)

const secret = 'not for runs'
const put = (path: string, content = secret): void => {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, content)
}
const git = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd, stdio: 'pipe' })

beforeAll(async () => {
  if (!runnable) return
  process.env['HOME'] = home
  for (const name of ['copse.db', 'signing.key', 'logs/run.log']) put(join(data, name))
  for (const name of [...keyFiles, ...personalFiles]) put(join(home, name))
  put(join(home, '.npmrc'), '//npm.test/:_authToken=secret-token\n')
  put(join(otherCopse, 'copse.db'))
  segment = /\d+/.exec(execFileSync('ipcmk', ['-M', '64'], { encoding: 'utf8' }))?.[0]
  put(join(home, '.claude', '.credentials.json'))
  put(join(home, '.npm', 'kept'))
  for (const name of ['pip/kept', 'huggingface/token', 'mozilla/firefox/cache2/entry']) put(join(home, '.cache', name))
  for (const name of profiles) put(join(home, name), 'mine\n')
  put(join(home, '.gitconfig'), '[http]\n\textraHeader = "Authorization: Bearer secret-token"\n')
  put(join(outside, 'file'))
  put(socket.replace(/[^/]*$/, 'file'))
  mkdirSync(repo)
  git(repo, 'init', '-q', '-b', 'main')
  for (const [name, value] of [
    ['user.name', 'Test'],
    ['user.email', 'test@copse.test'],
  ] as const)
    git(repo, 'config', name, value)
  put(join(repo, 'README.md'), 'read me\n')
  git(repo, 'add', '-A')
  git(repo, 'commit', '-qm', 'first')
  git(repo, 'worktree', 'add', '-q', '-b', 'own', worktree)
  git(repo, 'worktree', 'add', '-q', '-b', 'other', other)
  put(join(other, 'work.txt'))
  git(repo, 'pack-refs', '--all')
  git(repo, 'update-ref', 'refs/svc/rescue/task/1', 'HEAD')
  symlinkSync(join(outside, 'file'), join(worktree, 'link'))
  symlinkSync(join(data, 'copse.db'), join(worktree, 'db-link'))
  linkSync(join(repo, 'README.md'), join(outside, 'hard'))
  for (const server of [copse, stranger, listed]) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
  agent.listen(socket)
  await once(agent, 'listening')
})

afterAll(async () => {
  if (segment !== undefined) execFileSync('ipcrm', ['-m', segment])
  await containment.close()
  for (const server of [copse, stranger, listed, agent]) server.close()
  if (homeBefore !== undefined) process.env['HOME'] = homeBefore
  for (const folder of [root, strange]) rmSync(folder, { recursive: true, force: true })
})

/** Returns the names of the attempts that worked in a contained shell. */
const tryAll = (level: ContainmentLevel, attempts: readonly Attempt[], hosts: readonly string[] = ['allowed.test']) =>
  tryIn(containment, { level, cwd: worktree, home, hosts }, attempts)

const keyFiles = [
  '.ssh/id_ed25519',
  '.gnupg/secring.gpg',
  '.aws/credentials',
  '.azure/token',
  '.kube/config',
  '.docker/config.json',
  '.netrc',
  '.git-credentials',
  '.config/gcloud/credentials.db',
  '.config/gh/hosts.yml',
  '.local/share/keyrings/login.keyring',
]
const personalFiles = [
  ...['.pypirc', '.cargo/credentials.toml', '.m2/settings-security.xml', '.pgpass', '.my.cnf', '.vault-token'],
  ...['.bash_history', '.zsh_history', '.python_history', '.mozilla/firefox/cookies.sqlite', '.thunderbird/mail'],
  ...['.config/chromium/Default/Cookies', '.config/google-chrome/Default/Cookies', '.config/rclone/rclone.conf'],
  ...['.config/sops/age/keys.txt', '.config/doctl/config.yaml', '.config/hub', '.config/glab-cli/config.yml'],
  ...['.terraform.d/credentials.tfrc.json', '.fly/config.yml', '.vercel/auth.json', '.netlify/config.json'],
  ...[
    '.local/share/uv/credentials/store',
    '.gem/credentials',
    '.pub-cache/credentials.json',
    '.julia/servers/auth.toml',
  ],
  ...[
    '.codex/auth.json',
    '.config/Code/User/settings.json',
    'Documents/letter.txt',
    '.local/share/copse/copse.db',
    'projects/other/.env',
  ],
]
const profiles = [
  ...[
    '.gradle/init.d/x.gradle',
    '.m2/settings.xml',
    '.cargo/bin/cargo',
    '.rustup/settings.toml',
    '.local/share/pnpm/x',
  ],
  '.bashrc',
  '.profile',
  '.zshrc',
  '.gitconfig',
  '.config/autostart/x.desktop',
]
const holds = (path: string, content: string) => () => existsSync(path) && readFileSync(path, 'utf8').includes(content)

const http = (url: string, proxied = false) =>
  proxied ? `curl -fsS -m 5 ${url}` : `curl -fsS -m 5 --noproxy '*' ${url}`
const tcp = (host: string, port: number) => `exec 3<>/dev/tcp/${host}/${port}`

const newCommit = '"$(git commit-tree -m x "HEAD^{tree}")"'

const escapes = (): readonly Attempt[] => [
  ['read the database', `cat ${data}/copse.db`],
  ['read the key', `cat ${data}/signing.key`],
  ['read the log of another run', `cat ${data}/logs/run.log`],
  ['read the database through a link', 'cat db-link'],
  ['read the database through /proc/self/root', `cat /proc/self/root${data}/copse.db`],
  ['list the data folder', `ls ${data} | grep -q copse.db`],
  ['read another worktree', `cat ${other}/work.txt`],
  ['list the worktrees', `ls ${data}/workspaces | grep -q other`],
  ...[...keyFiles, ...personalFiles].map((name): Attempt => [`read ~/${name}`, `cat ~/${name}`]),
  ['list the home folder', 'ls -A ~ | grep -qx Documents'],
  ['read a token of npm', 'grep -q secret-token ~/.npmrc'],
  ['read a password of git', 'grep -q secret-token ~/.gitconfig'],
  ['read the database of another Copse', `cat ${otherCopse}/copse.db`],
  ['see shared memory of the person', 'ipcs -m | grep -q 0x'],
  ['know the machine by another name', 'hostname elsewhere'],
  ["read another agent's sign-in", 'cat ~/.claude/.credentials.json'],
  ['read what others keep in the temporary folder', `cat ${strange}/file`],
  ['reach a socket of the same person', `curl -m 3 --unix-socket ${socket} http://x/; [ $? != 7 ]`],
  ['see the sockets of the machine', 'find /run -type s | grep -q .'],
  ['find a D-Bus', '[ -S /run/dbus/system_bus_socket ]'],
  ['find Docker', '[ -S /run/docker.sock ] || [ -S /var/run/docker.sock ]'],
  ...profiles.map((name): Attempt => [
    `write ~/${name}`,
    `echo escaped >> ~/${name}`,
    holds(join(home, name), 'escaped'),
  ]),
  [
    'write an authorized key',
    'echo escaped > ~/.ssh/authorized_keys',
    () => existsSync(`${home}/.ssh/authorized_keys`),
  ],
  ['write the database', `echo escaped > ${data}/copse.db`, holds(`${data}/copse.db`, 'escaped')],
  ['write another worktree', `mkdir -p ${other}; echo escaped > ${other}/x`, () => existsSync(`${other}/x`)],
  ['write the main checkout', `echo escaped > ${repo}/README.md`],
  ['write a hook', `mkdir -p ${repo}/.git/hooks; echo escaped > ${repo}/.git/hooks/post-commit`],
  ['set git’s configuration', 'git config core.hooksPath /tmp/x'],
  ['set it for all worktrees', `git config --file ${repo}/.git/config alias.x '!x'`],
  ['write attributes', `echo '* filter=x' > ${repo}/.git/info/attributes`],
  ['write alternates', `echo /x > ${repo}/.git/objects/info/alternates`],
  ['move the head of the main checkout', `echo ref: refs/heads/own > ${repo}/.git/HEAD`],
  ['write another worktree’s index', `echo x > ${repo}/.git/worktrees/other/index`],
  ['move the branch of the person’s checkout', `git update-ref refs/heads/main ${newCommit}`],
  ['move it by its file', `git rev-parse HEAD > ${repo}/.git/refs/heads/main`],
  ['replace its file', `cp ${repo}/.git/refs/heads/own x && mv -f x ${repo}/.git/refs/heads/main`],
  ['delete it', 'git update-ref -d refs/heads/main'],
  ['move the branch of another task, which is packed', `git update-ref refs/heads/other ${newCommit}`],
  ['delete a rescue', 'git update-ref -d refs/svc/rescue/task/1'],
  ['replace the .git file', 'rm -f .git && mkdir .git'],
  ['rewrite the .git file', 'echo gitdir: /tmp > .git'],
  ['lead the worktree elsewhere', `echo /tmp > ${repo}/.git/worktrees/own/commondir`],
  ['write through a link', 'echo escaped > link', holds(join(outside, 'file'), 'escaped')],
  ['link a file from outside and write it', `ln ${outside}/hard ./hard && echo escaped > hard`],
  ['write beside the worktree', `echo x > ${outside}/new`],
  ['write into the system', 'echo x > /etc/copse-test'],
  ['write a cron table', `echo x > /var/spool/cron/copse-test || echo '* * * * * true' | crontab -`],
  ['use at', 'echo true | at now'],
  ['use systemd-run', 'systemd-run --user true || systemd-run true'],
  ['mount over a place', `mount --bind / ${repo}`],
  ['unmount what hides the data folder', `umount ${data} && cat ${data}/copse.db`],
  ['get a namespace with more rights', `unshare -Urm sh -c "umount ${data}; cat ${data}/copse.db"`],
  ['chroot by /proc', 'chroot /proc/1/root true && cat /proc/1/root/etc/shadow-'],
  ['see the processes outside', `kill -0 ${process.pid}`],
  ['read the environment of its service', `tr '\\0' '\\n' </proc/${process.pid}/environ`],
  ['read the memory of its service', `head -c1 /proc/${process.pid}/mem`],
  ['open a raw disk', 'head -c1 /dev/sda || head -c1 /dev/vda'],
  ['read the kernel’s memory', 'head -c1 /dev/mem || head -c1 /dev/kmsg'],
  ['load a module', 'insmod /nothing.ko || modprobe dummy'],
  ['set the host’s name', 'hostname escaped'],
  [
    'leave what a shell runs at its start among the caches',
    'mkdir -p ~/.cache && echo escaped > ~/.cache/p10k-instant-prompt-me.zsh',
    () => existsSync(join(home, '.cache', 'p10k-instant-prompt-me.zsh')),
  ],
  ['read a token among the caches', 'cat ~/.cache/huggingface/token'],
  ['read the cache of a browser', 'cat ~/.cache/mozilla/firefox/cache2/entry'],
  [
    'read through the root and the folder of a process',
    `cat /proc/1/root${data}/signing.key || cat /proc/self/cwd/../../signing.key`,
  ],
  ['put a link in the place of its temporary folder', `rm -rf "$TMPDIR" && ln -s ${outside} "$TMPDIR"`],
  [
    'leave a link in its temporary folder for the one who removes it',
    `ln -s ${outside} "$TMPDIR/out"; chmod 000 "$TMPDIR"; false`,
    () => !existsSync(join(outside, 'file')),
  ],
  ['start a timer of systemd', 'systemd-run --user --on-active=1 true || systemctl --user enable x.timer'],
  [
    'leave a job for at or cron by file',
    'echo true > /var/spool/cron/crontabs/root || echo true > /etc/cron.d/copse-test',
  ],
  [
    'leave a unit, a desktop entry or a fish function',
    `mkdir -p ~/.config/systemd/user ~/.config/fish && echo escaped > ~/.config/systemd/user/x.service && echo escaped > ~/.config/fish/config.fish`,
    () => existsSync(join(home, '.config/fish/config.fish')),
  ],
  ['hard-link the key into its private home', `ln ${data}/signing.key ~/key || ln ${outside}/file ~/file`],
  ['hard-link a file from outside into its worktree', `ln ${outside}/file ./linked`],
  ['make a device', 'mknod ./disk b 8 0 && head -c1 ./disk'],
  ['make a program that runs as another user', 'cp /bin/sh ./sh && chmod u+s ./sh && chown 12345 ./sh'],
  [
    'write the knowledge of another run',
    `echo escaped > ${data}/logs/run.log`,
    holds(join(data, 'logs/run.log'), 'escaped'),
  ],
]

const allowed = (): readonly Attempt[] => [
  ['write a file', 'echo hi > made.txt', () => existsSync(join(worktree, 'made.txt'))],
  ['commit', 'git add -A && git commit -qm work'],
  ['amend', 'git commit -q --amend -m better', () => git(repo, 'log', '-1', '--format=%s', 'own').includes('better')],
  ['branch and tag', 'git branch third && git tag first'],
  ['stash', 'echo x >> made.txt && git stash -q && git stash drop -q'],
  ['rebase', 'git rebase -q main'],
  ['show what changed', 'git diff main --stat'],
  ['write settings of an editor', 'mkdir -p .vscode && echo {} > .vscode/settings.json'],
  ['make a temporary file', 'f=$(mktemp) && echo x > "$f" && grep -q x "$f"'],
  ['write to /tmp', 'echo x > /tmp/x && grep -q x /tmp/x'],
  ['fill a cache', 'echo x > ~/.npm/new', () => existsSync(join(home, '.npm', 'new'))],
  ['read a cache', 'cat ~/.npm/kept'],
  [
    'fill one below ~/.cache',
    'cat ~/.cache/pip/kept && echo x > ~/.cache/pip/new',
    () => existsSync(join(home, '.cache/pip/new')),
  ],
  [
    'have one that Copse doesn’t know',
    'mkdir -p ~/.cache/unknown && echo x > ~/.cache/unknown/x && cat ~/.cache/unknown/x',
  ],
  ['read the main checkout', `cat ${repo}/README.md`],
  ['run Node', '"$NODE" -e "process.exit(0)"'],
  [
    'start a server and reach it',
    `"$NODE" -e "s=http.createServer((q,r)=>r.end()).listen(0,()=>fetch('http://127.0.0.1:'+s.address().port).then(()=>process.exit(0)))"`,
  ],
  [
    'talk over a socket of its own',
    '"$NODE" -e "net.createServer(()=>process.exit(0)).listen(process.env.TMPDIR+\'/s\',()=>net.connect(process.env.TMPDIR+\'/s\'))"',
  ],
]

describe.runIf(runnable)('a contained run', () => {
  it('reaches nothing outside', async () => {
    const attempts = escapes()
    expect(attempts.length).toBeGreaterThanOrEqual(124)
    expect(await tryAll('worktree', attempts)).toEqual([])
  })

  it('is what stops them: the same reads succeed without', async () => {
    const reads = escapes().filter(([what]) =>
      /^(?:read ~|read the (?:data|key|log)|read an|list|reach a socket)/.test(what),
    )
    expect(reads.length).toBeGreaterThan(15)
    expect(await tryAll('none', reads)).toEqual(reads.map(([what]) => what))
  })

  it('works, and leaves the worktree as without containment', async () => {
    const attempts = allowed()
    expect(await tryAll('worktree', attempts)).toEqual(attempts.map(([what]) => what))
    expect(git(worktree, 'status', '--porcelain').toString()).toBe('?? .vscode/\n')
  })

  it('gets no keys by an extra path that has become a link', async () => {
    const way = join(outside, 'way')
    symlinkSync(join(home, '.ssh'), way)
    for (const paths of [{ read: [way] }, { write: [join(way, 'id_ed25519')] }])
      await expect(containment.box({ level: 'worktree', cwd: worktree, ...paths })).rejects.toThrow(/holds keys/)
    expect(await containment.box({ level: 'worktree', cwd: worktree, read: ['~/.ssh/id_ed25519'] })).not.toBeNull()
  })

  it('has the machine’s network unless its hosts are listed', async () => {
    expect(await tryAll('worktree', [['a service of the machine', tcp('127.0.0.1', portOf(stranger))]])).toHaveLength(1)
  })

  it('reaches Copse, but no other host or port', async () => {
    const { port } = new URL(urlOf(stranger))
    const attempts: readonly Attempt[] = [
      ['Copse', `${http(urlOf(copse))} | grep -q copse`],
      ['a service of the machine', tcp('127.0.0.1', portOf(stranger))],
      ['the same by name', http(`http://localhost:${port}`)],
      ['the same through the proxy', `curl -fsS -m 5 --noproxy '' -x "$HTTP_PROXY" http://127.0.0.1:${port}`],
      ['the same over IPv6', tcp('::1', portOf(stranger))],
      ['an address by number', tcp('192.0.2.1', 80)],
      ['an address through the proxy', http('http://192.0.2.1', true)],
      ['a host off the list', http('http://denied.test', true)],
      ['a host that ends like one on the list', http('http://notallowed.test', true)],
      ['a name by DNS', 'getent hosts example.com'],
      ['a tunnel to another port', `curl -fsS -m 5 -p -x "$HTTP_PROXY" http://127.0.0.1:${port}`],
      ['the address of the cloud', http('http://169.254.169.254/', true)],
    ]
    expect(await tryAll('worktree_and_hosts', attempts)).toEqual(['Copse'])
  })

  it('reaches the hosts on its own list, not on another run’s', async () => {
    const attempts: readonly Attempt[] = [
      ['listed', `curl -fsS -m 5 --noproxy '' -x "$HTTP_PROXY" ${urlOf(listed)} | grep -q listed`],
      ['listed, by a tunnel', `curl -fsS -m 5 --noproxy '' -p -x "$HTTP_PROXY" ${urlOf(listed)} | grep -q listed`],
      ['listed, by Node', `"$NODE" -e "fetch('${urlOf(listed)}').then(() => process.exit(0), () => process.exit(1))"`],
    ]
    const hosts = [`127.0.0.1:${portOf(listed)}`]
    const [own, other] = await Promise.all([
      tryAll('worktree_and_hosts', attempts, hosts),
      tryAll('worktree_and_hosts', attempts, ['allowed.test']),
    ])
    expect(own).toEqual(attempts.map(([name]) => name))
    expect(other).toEqual([])
  })

  it('leaves nothing behind, wherever it went', async () => {
    const proof = join(worktree, 'alive')
    const forever = `while :; do date +%N > ${proof}; sleep 0.05; done`
    await tryAll('worktree', [
      [
        'double fork',
        `(setsid sh -c '${forever}' &) ; (nohup env -i PATH="$PATH" setsid sh -c '${forever}' &); sleep 0.2`,
      ],
    ])
    expect(existsSync(proof)).toBe(true)
    rmSync(proof)
    // A leftover process would have written it many times by now.
    for (let looks = 0; looks < 20; looks++) git(worktree, 'status')
    expect(existsSync(proof)).toBe(false)
  })
})
