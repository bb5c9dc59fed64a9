import { isId } from '../../../credentials/id.ts'
import { notFound } from '../../../http/problem.ts'

/** A malformed id gets the same 404 as an unknown one. */
export function requireCustomerId(id: string): string {
  if (!isId('cus', id)) throw notFound('customer')
  return id
}
