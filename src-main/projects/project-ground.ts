import type { Ground } from '../core/ground.ts'
import type { RepositoryReader } from '../ports/repository-reader.ts'

/** What projects need besides the ground. */
export interface ProjectGround extends Ground {
  readonly repositories: RepositoryReader
}
