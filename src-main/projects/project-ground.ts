import type { Ground } from '../core/ground.ts'
import type { RepositoryReader } from '../ports/repository-reader.ts'

/** The services that projects use. */
export interface ProjectGround extends Ground {
  readonly repositories: RepositoryReader
}
