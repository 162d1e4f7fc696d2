import { z } from 'zod'
import { errorCodes } from './errors.ts'

/** The body of every answer that is not a success, for the API's description. `message` says what to do next. */
export const ErrorBody = z
  .object({
    error: z.object({
      code: z.enum(errorCodes),
      message: z.string(),
      details: z.record(z.string(), z.unknown()).optional(),
    }),
  })
  .meta({ id: 'Error' })
