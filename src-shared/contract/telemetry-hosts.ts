/**
 * Hosts to which vendors of agents send measurements and crash reports, and which no agent needs to work. As of
 * 2026-11.
 */
const hosts = [
  'statsig.anthropic.com',
  'statsig.com',
  'api.statsig.com',
  'featureassets.org',
  'prodregistryv2.org',
  'statsigapi.net',
  'events.statsigapi.net',
  'play.googleapis.com',
  'ab.chatgpt.com',
  'telemetry.individual.githubcopilot.com',
  'telemetry.business.githubcopilot.com',
  'telemetry.enterprise.githubcopilot.com',
  'copilot-telemetry.githubusercontent.com',
  'copilot-telemetry-service.githubusercontent.com',
  'gb4w8c3ygj-default-sea.rum.aliyuncs.com',
  'otel.cline.bot',
  'data.cline.bot',
]

/** Services of measurement, of which each customer has a name of its own. */
const services = [
  'sentry.io',
  'posthog.com',
  'datadoghq.com',
  'datadoghq.eu',
  'segment.io',
  'segment.com',
  'amplitude.com',
  'mixpanel.com',
  'honeycomb.io',
  'applicationinsights.azure.com',
  'events.data.microsoft.com',
  'google-analytics.com',
  'rum.aliyuncs.com',
  'launchdarkly.com',
]

/** Returns whether a host takes measurements of an agent's vendor. */
export function isTelemetryHost(host: string): boolean {
  const name = host.toLowerCase().replace(/:\d+$/, '')
  return hosts.includes(name) || services.some((service) => name === service || name.endsWith(`.${service}`))
}
