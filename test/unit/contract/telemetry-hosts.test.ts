import { expect, test } from 'vitest'
import { isTelemetryHost } from '../../../src-shared/contract/telemetry-hosts.ts'

test.each([
  'statsig.anthropic.com',
  'sentry.io',
  'o4505.ingest.us.sentry.io',
  'http-intake.logs.us5.datadoghq.com',
  'http-intake.logs.datadoghq.eu',
  'browser-intake-us5-datadoghq.com',
  'browser-intake-datadoghq.eu',
  'us.i.posthog.com',
  'ab.chatgpt.com',
  'play.googleapis.com',
  'telemetry.business.githubcopilot.com',
  'collector.github.com',
  'data.cline.bot',
  'data.charm.land',
])('takes %s for telemetry', (host) => {
  expect(isTelemetryHost(host)).toBe(true)
})

// An agent may need these for its task or its model.
test.each([
  'api.anthropic.com',
  'chatgpt.com',
  'api.datadoghq.com',
  'notsentry.io',
  'sentry.io.example.com',
  'generativelanguage.googleapis.com',
  'api.individual.githubcopilot.com',
  'browser-intake.example.com',
])('does not take %s for telemetry', (host) => {
  expect(isTelemetryHost(host)).toBe(false)
})
