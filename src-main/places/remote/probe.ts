import type { ContainmentStatus } from '../../../src-shared/contract/containment.ts'
import type { RunnerCheckStep } from '../../../src-shared/contract/runners.ts'
import { quoted } from '../../platform/process/process-shell.ts'

/** With an older one HTTP/2 makes no client of a socket that was read from. */
export const minNode = 24
const minFreeMb = 1_024
const maxSkewSeconds = 300

export function checkStep(name: string, ok: boolean, message: string, fix: string | null = null): RunnerCheckStep {
  return { name, ok, message, fix }
}

/** Says how runs there can be contained, which only some agents ask for. */
export function containmentStep({ available, reason }: ContainmentStatus): RunnerCheckStep {
  return available
    ? checkStep('containment', true, 'Runs there can be contained.')
    : checkStep('containment', true, `Runs there can’t be contained. ${reason ?? ''}`.trimEnd())
}

/** Says what is in a folder's machine, a line each, after a mark: the shell there may greet. */
export const probeScript = (agents: readonly string[], node = 'node'): string => `
echo; echo copse-probe
echo "git=$(git --version 2>/dev/null)"
echo "node=$(${node} --version 2>/dev/null || node --version 2>/dev/null)"
echo "uname=$(uname -s -m)"
echo "free=$(df -Pk . 2>/dev/null | tail -1 | awk '{print $4}')"
echo "clock=$(date +%s)"
echo "folder=$PWD"
for agent in '' ${quoted(agents)}; do [ -n "$agent" ] && command -v "$agent" >/dev/null && echo "agent=$agent"; done
exit 0`

/** The Node that the service brings to a machine without one; null, and what to do, where it can't. */
interface NodeBrought {
  readonly version: string | null
  readonly fix: string
}

function nodeStep(said: string, { version, fix }: NodeBrought): RunnerCheckStep {
  const major = /^v(\d+)/.exec(said)?.[1]
  if (Number(major ?? 0) >= minNode) return checkStep('node', true, `Node ${said.slice(1)}.`)
  const what = major ? `Node ${said.slice(1)} is too old.` : 'Node is not installed there, or not in PATH.'
  return version === null
    ? checkStep('node', false, what, fix)
    : checkStep('node', true, `${what} Copse brings Node ${version} there, for its own program alone.`)
}

/** Returns what the probe has said of a machine; null if it did not run. */
export function readProbe(
  stdout: string,
  brings: (uname: string) => NodeBrought = () => ({ version: null, fix: `Install Node ${minNode} or newer there.` }),
): { readonly folder: string; readonly steps: readonly RunnerCheckStep[] } | null {
  const at = stdout.indexOf('\ncopse-probe\n')
  if (at === -1) return null
  const lines = stdout.slice(at).split('\n')
  const read = (name: string): string => lines.find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1) ?? ''
  const git = /\d+\.\d+[\d.]*/.exec(read('git'))?.[0]
  const free = Math.floor(Number(read('free')) / 1_024)
  const skew = Math.round(Number(read('clock')) - Date.now() / 1_000)
  const agents = lines.filter((line) => line.startsWith('agent=')).map((line) => line.slice('agent='.length))
  return {
    folder: read('folder'),
    steps: [
      git === undefined
        ? checkStep('git', false, 'Git is not installed there.', 'Install git, version 2.28 or newer.')
        : checkStep('git', true, `Git ${git}.`),
      nodeStep(read('node'), brings(read('uname'))),
      free >= minFreeMb
        ? checkStep('disk', true, `${Math.floor(free / 1_024)} GB free.`)
        : checkStep('disk', false, `Only ${free} MB are free there.`, 'Make room, or choose another folder.'),
      Math.abs(skew) <= maxSkewSeconds
        ? checkStep('clock', true, 'Its clock is right.')
        : // Only the service's clock counts.
          checkStep('clock', true, `Its clock is off by ${Math.abs(skew)} seconds. Times in its files differ.`),
      agents.length > 0
        ? checkStep('agents', true, `Found ${agents.join(', ')}.`)
        : checkStep(
            'agents',
            true,
            'No agent that this machine has is in PATH there. An agent with a command of its own runs anyway.',
          ),
    ],
  }
}
