import { computed, type ComputedRef } from 'vue'
import { registryHosts } from '../../../src-shared/contract/registry-hosts.ts'
import { useClient } from '../base/client.ts'
import { useQuery } from '../base/query.ts'

/**
 * Returns the hosts that the project's builds usually need; without a project or until they are
 * loaded, the package registries.
 */
export function useBuildHosts(projectId: () => string | undefined): ComputedRef<readonly string[]> {
  const client = useClient()
  const { data } = useQuery(
    () => client.call('repos.build_hosts', { project_id: projectId() ?? '' }),
    () => (projectId() === undefined ? null : ['build hosts', projectId()]),
  )
  return computed(() => data.value?.items ?? registryHosts)
}
