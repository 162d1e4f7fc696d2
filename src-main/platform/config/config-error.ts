/** An unusable setting. The message is one line that names the setting and says what would work. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly code = 'unusable_setting'
  readonly setting: string

  constructor(setting: string, value: string, wanted: string, options?: ErrorOptions) {
    super(`${setting}=${JSON.stringify(value)} cannot be used: ${wanted}`, options)
    this.setting = setting
  }
}

/** A setting's value and where it was given. */
export interface Setting {
  readonly name: string
  readonly value: string
}
