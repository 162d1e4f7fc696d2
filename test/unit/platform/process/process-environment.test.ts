import { expect, it } from 'vitest'
import { childEnvironment } from '../../../../src-main/platform/process/process-environment.ts'

it('gives children the person’s environment, without the service’s own variables', () => {
  const inherited = {
    PATH: '/bin',
    NPM_CONFIG_REGISTRY: 'https://mine',
    MY_SVC_NAME: 'kept',
    SVC_SECRET_TRACKER: 'no',
    SVC_DATA_DIR: '/data',
    ELECTRON_RUN_AS_NODE: '1',
    NODE_OPTIONS: '--inspect',
    npm_lifecycle_event: 'start',
    UNSET: undefined,
  }
  expect(childEnvironment({ SVC_TASK_ID: 't', PATH: '/mine' }, inherited)).toEqual({
    PATH: '/mine',
    NPM_CONFIG_REGISTRY: 'https://mine',
    MY_SVC_NAME: 'kept',
    SVC_TASK_ID: 't',
  })
})
