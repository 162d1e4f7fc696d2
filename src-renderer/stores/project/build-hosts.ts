import { computed, type ComputedRef } from 'vue'
import { registryHosts } from '../../../src-shared/contract/registry-hosts.ts'
import { useClient } from '../base/client.ts'
import { useQuery } from '../base/query.ts'

/** The hosts that builds of a project usually need; without one, or until they are known, the package registries. */
export function useBuildHosts(projectId: () => string | undefined): ComputedRef<readonly string[]> {
  const client = useClient()
  const { data } = useQuery(
    () => client.call('repos.build_hosts', { project_id: projectId() ?? '' }),
    () => (projectId() === undefined ? null : ['build hosts', projectId()]),
  )
  return computed(() => data.value?.items ?? registryHosts)
}
