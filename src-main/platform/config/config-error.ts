/** A setting that cannot be used. The message is one line that names it and says what would do. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly code = 'unusable_setting'
  readonly setting: string

  constructor(setting: string, value: string, wanted: string, options?: ErrorOptions) {
    super(`${setting}=${JSON.stringify(value)} cannot be used: ${wanted}`, options)
    this.setting = setting
  }
}

/** A setting as it was given, and where. */
export interface Setting {
  readonly name: string
  readonly value: string
}
