import type { RefusalCode } from '../domain/refusal.ts'

/** The responses to refusals about meters. */
export const meterRefusals = {
  meter_not_found: [404, 'there is no such meter: add it to the key type of the license, or to the customer'],
  meter_is_shared: [
    409,
    'all licenses of its customer share this meter; add the credit to the customer instead of the license',
  ],
  meter_key_reused: [
    422,
    'this idempotency key was used for something else under this meter; use a new key for each request',
  ],
  hold_not_found: [409, 'there is no such hold, or it has ended; place another one'],
  hold_too_small: [409, 'a hold is committed with at most what it holds; consume the rest'],
  allowance_limit_reached: [422, 'five allowances are kept for this device; report and return one first'],
  allowance_over: [409, 'nothing, or too little, is kept under this allowance; ask for another one'],
  credit_not_found: [404, 'there is no such credit, or nothing of it is left'],
  credit_ends_in_the_past: [422, 'the end of a credit must be in the future'],
  correction_too_large: [422, 'not so much was used in this period'],
} satisfies Partial<Record<RefusalCode, [status: number, message: string]>>
