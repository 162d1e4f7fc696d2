/**
 * State of a repository besides the work: hashes of the files that control git, by path relative to the common git
 * folder; if asked for, all refs by name (an object, or `ref: ` and a name), under `stash`, `time` and `logs` what tells
 * whose later moves are.
 */
export type RepositoryState = Readonly<Record<string, string>>
