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
  'collector.github.com',
  'default.exp-tas.com',
  'dc.services.visualstudio.com',
  'gb4w8c3ygj-default-sea.rum.aliyuncs.com',
  'otel.cline.bot',
  'data.cline.bot',
  'data.charm.land',
]

/** Services of measurement, of which each customer has a name of its own. */
const services = [
  'sentry.io',
  'posthog.com',
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
  // Datadog has its region within the name; its API is another host.
  if (/^(?:http|browser)-intake[\w.-]*[.-]datadoghq\.(?:com|eu)$/.test(name)) return true
  return hosts.includes(name) || services.some((service) => name === service || name.endsWith(`.${service}`))
}

/** Returns whether a run was kept from telemetry, which it doesn't miss. */
export const isTelemetry = ({ what, target }: { readonly what: 'path' | 'host'; readonly target: string }): boolean =>
  what === 'host' && isTelemetryHost(target)
