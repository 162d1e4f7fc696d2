import { spawn, type ChildProcess } from 'node:child_process'
import { tmpdir } from 'node:os'
import { readProcess } from './process-table.ts'

/** A process tree that must not outlive this process. */
export interface GuardedTree {
  /** The root's pid, which is also its process group. 0: about to be started. */
  readonly pid: number
  /** `NAME=value` that every process of the tree inherits. */
  readonly processMarker: string
  /** The worktree in which it works; null if none: what cleaned its environment can't be told from others' then. */
  readonly worktree: string | null
}

/**
 * Reads the running trees, one per line, until the pipe closes because this process ended, however it ended. Then
 * sends their processes SIGTERM and a second later SIGKILL, until none is found. A shell script, because the packaged
 * app can't run scripts as Node; needs `awk`, and `ps` where there is no /proc.
 */
const script = String.raw`
left=$(awk '/^\+/ { line = substr($0, 3); live[$2] = line } /^-/ { delete live[$2] } END { for (m in live) print live[m] }')
[ -n "$left" ] || exit 0
# No terminal and no HOME: what cleaned its environment and left its group. A person's own program in that folder has both or one.
cleaned() {
  case "$(readlink "/proc/$1/cwd")/" in "$2"/*) ;; *) return 1 ;; esac
  tr '\0' '\n' <"/proc/$1/environ" | grep -q '^HOME=' && return 1
  stat=$(cat "/proc/$1/stat") && set -- $(printf '%s' "$stat" | sed 's/.*) //') && [ "$5" = 0 ]
}
members() {
  printf '%s\n' "$left" | while read -r marker pid cwd; do
    case "$marker" in =*)
      [ "$(sed 's/.*) //' "/proc/$pid/stat" | cut -d ' ' -f 20)" = "$cwd" ] && echo "$pid"
      continue ;;
    esac
    [ "$pid" = 0 ] || { kill -s 0 -- "-$pid" && echo "-$pid"; }
    if [ -d /proc/self ]; then
      grep -lzxF -e "$marker" /proc/[0-9]*/environ | cut -d/ -f3
      [ -n "$cwd" ] || continue
      ls -ld /proc/[0-9]*/cwd | grep -F "/cwd -> $cwd" | sed 's|.*/proc/\([0-9]*\)/cwd -> .*|\1|' | while read -r one; do
        cleaned "$one" "$cwd" && echo "$one"
      done
    else
      ps -A -E -ww -o pid=,command= | grep -F -e "$marker" | grep -v grep | awk '{ print $1 }'
    fi
  done
}
end() { for pid in $(members); do [ "$pid" = $$ ] || kill -s "$1" -- "$pid"; done; }
end TERM
sleep 0.5
for round in 1 2 3 4 5 6 7 8 9 10; do
  found=$(members)
  [ -n "$found" ] || break
  for pid in $found; do [ "$pid" = $$ ] || kill -s KILL -- "$pid"; done
  sleep 0.1
done
`

let guard: ChildProcess | undefined

/**
 * Has a tree killed if this process dies without a chance to do it, as by SIGKILL; call the returned function once
 * the tree has ended. Not available on Windows.
 */
export function guardTree({ pid, processMarker, worktree }: GuardedTree): () => void {
  if (process.platform === 'win32' || (worktree !== null && /\n/.test(worktree))) return () => undefined
  send(`+ ${processMarker} ${pid} ${worktree ?? ''}\n`)
  return () => send(`- ${processMarker}\n`)
}

/** Has one process of Linux, which need not be a group's first, killed in the same way. Its children are not. */
export async function guardProcess(child: ChildProcess): Promise<void> {
  const row = child.pid === undefined ? null : await readProcess(child.pid)
  if (row === null) return
  // Together with its start, which tells it from a later process with the same pid.
  const marker = `=${row.pid}:${row.order}`
  send(`+ ${marker} ${row.pid} ${row.order}\n`)
  child.once('exit', () => send(`- ${marker}\n`))
}

function send(line: string): void {
  guard ??= startGuard()
  guard.stdin?.write(line)
}

function startGuard(): ChildProcess {
  const child = spawn('/bin/sh', ['-c', script], {
    cwd: tmpdir(),
    // A separate session, so that a signal to this process's group does not end the guard.
    detached: true,
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C' },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const gone = (): void => {
    if (guard === child) guard = undefined
  }
  child.once('error', gone)
  child.once('exit', gone)
  child.stdin?.on('error', gone)
  child.unref()
  // The open pipe must not keep this process alive.
  ;(child.stdin as (typeof child.stdin & { unref?: () => void }) | null)?.unref?.()
  return child
}
