/** How much is measured. `quick` only proves that the harness works: its numbers say nothing. */
export type Scale = 'full' | 'quick'

/** Which program is measured as the product: what `npm run build` made, or the sources as they are. */
export type Build = 'dist' | 'sources'

export interface Setting {
  readonly scale: Scale
  readonly build: Build
  /** Says what is going on, for a person who waits. */
  readonly say: (line: string) => void
}

/** The two sides of one row, ready to be measured. Each call is one round and answers its value in the row's unit. */
export interface Contest extends AsyncDisposable {
  product(): Promise<number>
  floor(): Promise<number>
  /** After the last round: throws when what was counted is not what was done. */
  verify(): Promise<void>
}

export interface BenchRow {
  readonly name: string
  readonly unit: string
  /** Whether a larger value is the better one. */
  readonly better: 'higher' | 'lower'
  /** What product / floor has to reach (`higher`), or must not exceed (`lower`). */
  readonly goal: number
  /** `difference`: what is compared is product - floor, since either may be none at all. */
  readonly compare?: 'difference'
  /** Measures what a process that has nothing to do takes of the processor, so that it runs beside other such rows. */
  readonly idle?: true
  readonly rounds: { readonly [S in Scale]: { readonly warmUp: number; readonly measured: number } }
  prepare(setting: Setting): Promise<Contest>
}
