import { chmod, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/**
 * Stands for the client of Docker: answers as an engine that has every image, and starts on this machine what a container
 * would start. Reaches no engine at another address. Programs that a container mounts elsewhere don't work in it.
 */
const client = `#!/bin/sh
case "$1" in
  --host) echo "Cannot connect to the Docker daemon at $2." >&2; exit 1 ;;
  --version) echo 'Docker version 28.0.0, build test' ;;
  info) echo '["name=seccomp"]' ;;
  image) echo sha256:0123456789ab ;;
  run)
    shift
    while [ "$1" != --entrypoint ]; do
      case "$1" in
        --workdir) cd "$2" || exit 125 ;;
        --env) export "$2" ;;
      esac
      shift
    done
    program="$2"
    shift 3
    exec "$program" "$@" ;;
esac
`

interface LocalEngine {
  /** The variables with which a service finds the client. */
  readonly env: { readonly PATH: string }
  /** Ends the engine: its client reaches it no longer. */
  stop(): Promise<void>
}

const stopped = `#!/bin/sh
echo 'Cannot connect to the Docker daemon.' >&2
exit 1
`

/** Writes the client into a folder. */
export async function writeLocalEngine(folder: string): Promise<LocalEngine> {
  const file = join(folder, 'docker')
  await writeFile(file, client)
  await chmod(file, 0o755)
  return {
    env: { PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` },
    stop: () => writeFile(file, stopped),
  }
}
