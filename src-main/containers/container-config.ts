/** How the containers of one runner are made. */
export interface ContainerConfig {
  /** A program, or the socket of a service that speaks Docker's protocol; null: whichever is found. */
  readonly engine: 'docker' | 'podman' | `unix://${string}` | null
  /** Absent with `devcontainer`. */
  readonly image?: string | undefined
  /** The image and what else a container has come from the `devcontainer.json` of each project. */
  readonly devcontainer?: boolean | undefined
  /** Processors at most, also a part of one. */
  readonly cpus?: number | undefined
  readonly memory_mb?: number | undefined
  /** `open`: the engine's usual network; `none`: Copse alone; `hosts`: Copse and the hosts that a run may reach. */
  readonly network: 'open' | 'hosts' | 'none'
  /** Folders and files of this machine, absolute or from `~`, which containers see at the same path. */
  readonly mounts?: { readonly read: readonly string[]; readonly write: readonly string[] } | undefined
  /** Shell commands that put programs into `$SVC_TOOLS_DIR/bin`, once for each set of them and image. They have the engine's network. */
  readonly setup?: readonly string[] | undefined
}

/** A runner whose containers are made here. */
export interface ContainerRunner {
  readonly id: string
  readonly name: string
  readonly config: ContainerConfig
}
