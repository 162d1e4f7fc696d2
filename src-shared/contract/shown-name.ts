import { z } from 'zod'
import { withoutControls } from '../lang/hidden-characters.ts'

/** A name or title as people read it beside others: control characters, and those that reverse text, are left out. */
export const shownName = () => z.string().overwrite(withoutControls).trim()
