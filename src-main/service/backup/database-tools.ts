/** What a backup needs of the store, which alone knows SQLite; the entry hands it in. */
export interface DatabaseTools {
  /** Copies a database as it is at one instant to a new file. */
  copyDatabase(
    from: string,
    to: string,
    options: { readonly signal: AbortSignal; readonly onProgress: (share: number) => void },
  ): Promise<void>
  /** Returns how many migrations a database has had, and what is wrong with it. */
  checkDatabase(file: string): { readonly applied: number; readonly damage: string | null }
  /** Returns how many migrations this program knows. */
  countKnown(migrationsFolder: string): number
}
