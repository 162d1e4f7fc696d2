import { expect, test } from 'vitest'
import { jobManifest, merge } from '../../../src-main/places/kubernetes/job-manifest.ts'
import { endTrouble, quotaTrouble, startTrouble } from '../../../src-main/places/kubernetes/pod-trouble.ts'

const wanted = { installation: 'here', runner_id: 'r', job_id: 'j' }

test('makes a job of one pod that never starts a second time and has no word at the cluster', () => {
  const pod = {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 600,
    nodeSelector: { disk: 'fast' },
    containers: [
      { name: 'copse', command: ['rm'], resources: { limits: { memory: '1Gi' } } },
      { name: 'database', image: 'postgres:18' },
    ],
  }
  const { metadata, spec } = jobManifest({ ...wanted, config: { namespace: 'agents', image: 'work:1', pod } })
  expect(metadata).toMatchObject({ name: 'copse-j', namespace: 'agents', labels: { 'copse.job': 'j' } })
  expect(spec).toMatchObject({ backoffLimit: 0 })
  expect(spec?.template.metadata?.labels).toEqual(metadata?.labels)
  const made = spec?.template.spec
  expect(made).toMatchObject({
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 15,
    automountServiceAccountToken: false,
    nodeSelector: { disk: 'fast' },
  })
  expect(made?.containers).toMatchObject([
    {
      name: 'copse',
      image: 'work:1',
      command: ['sh', '-c', expect.any(String)],
      resources: { limits: { memory: '1Gi' } },
    },
    { name: 'database', image: 'postgres:18' },
  ])
})

test('merges objects by key and named lists by name, and removes what is null', () => {
  expect(merge({ a: 1, b: { c: 2, d: 3 } }, { b: { d: null, e: 4 } })).toEqual({ a: 1, b: { c: 2, e: 4 } })
  expect(merge([{ name: 'x', a: 1 }], [{ name: 'x', b: 2 }, { name: 'y' }])).toEqual([
    { name: 'x', a: 1, b: 2 },
    { name: 'y' },
  ])
  expect(merge(['a'], ['b'])).toEqual(['b'])
})

const waitsFor = (reason: string, message = 'said') => ({
  status: { containerStatuses: [{ image: 'work:1', state: { waiting: { reason, message } } }] },
})

test.each([
  [waitsFor('ErrImagePull'), 'The image work:1 can’t be pulled: said.', true],
  [waitsFor('ImagePullBackOff'), 'The image work:1 can’t be pulled: said.', false],
  [waitsFor('ErrImageNeverPull'), 'The image work:1 is not on the node, and its pull policy is Never.', false],
  [waitsFor('ContainerCreating'), null, null],
  [
    {
      status: {
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' }],
      },
    },
    'No node has room for the pod: 0/3 nodes.',
    true,
  ],
  [
    { status: { phase: 'Failed', reason: 'Evicted', message: 'low on disk' } },
    'The cluster evicted the pod: low on disk.',
    false,
  ],
  [{ status: { phase: 'Pending' } }, null, null],
])('says why a pod does not start: %j', (pod, message, mayPass) => {
  expect(startTrouble(pod as never)).toEqual(message === null ? null : { message, mayPass })
})

test.each([
  [{ phase: 'Running' }, null],
  [{ phase: 'Failed', containerStatuses: [{ state: { terminated: { reason: 'OOMKilled' } } }] }, 'memory'],
  [{ phase: 'Failed', reason: 'DeadlineExceeded' }, 'deadline'],
  [{ phase: 'Succeeded' }, 'ended'],
])('says why a pod has ended: %j', (status, word) => {
  const trouble = endTrouble({ status } as never)
  if (word === null) expect(trouble).toBeNull()
  else expect(trouble?.message).toContain(word)
})

test('says that a quota is used up, which may pass, and that the cluster makes no pod, which does not', () => {
  const event = (message: string) => [{ type: 'Warning', reason: 'FailedCreate', message }] as never
  expect(quotaTrouble(event('pods "x" is forbidden: exceeded quota: few'))).toMatchObject({ mayPass: true })
  expect(quotaTrouble(event('pods "x" is forbidden: no service account'))).toMatchObject({ mayPass: false })
  expect(quotaTrouble([])).toBeNull()
})
