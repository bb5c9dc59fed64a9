import { z } from 'zod'
import { isPlain, notPlain } from '../../domain/values.ts'
import { maxStatementLength } from '../../signing/device-statements.ts'

/** A text that a device has signed, in lines. */
export const statement = z
  .string()
  .min(1)
  .max(maxStatementLength)
  .refine((value) => isPlain(value.replaceAll(/[\t\r\n]/g, '')), notPlain)
