import { isRecord } from '../../keyset.ts'
import type { Judged } from '../calls.ts'
import type { Ports } from '../operations.ts'
import { type Problem, problemOf } from '../problem.ts'
import type { Answered } from '../request.ts'
import { isActive } from '../states.ts'
import type { Entry, Holder } from './journal.ts'

/** Why nothing is counted: as the server says it, or as the call failed. */
export type Refused = { reason: string; message: string; retryAfterMs?: number | undefined }

export const refusedBy = ({ code, message, retryAfterMs }: Problem): Refused => ({
  reason: code,
  message,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
})

/** The license and seat of the client, while its state is good; or why it may use nothing. */
export async function holderNow({ keeper }: Ports): Promise<Holder | Refused> {
  const { license } = await keeper.load()
  const state = keeper.state()
  if (!license) return { reason: 'no_license', message: 'there is no license on this device' }
  // A license that has fallen back, or has expired, uses nothing.
  if (!isActive(state))
    return { reason: state.status, message: `the license may not be used now: ${state.status}` }
  if (license.relay !== undefined)
    return { reason: 'seat_of_relay', message: 'this seat is of a relay, which counts no uses' }
  return { licenseKey: license.key, instanceId: license.instanceId }
}

/** Sends a call about meters to the vendor's server. @returns the body of its answer */
export async function sendTo(
  { servers, keeper }: Ports,
  name: 'consume' | 'uses' | 'allowance',
  { licenseKey, instanceId }: Holder,
  body: object,
  isAnswer: (body: Record<string, unknown>) => boolean,
): Promise<Judged<Record<string, unknown>>> {
  const judge = async (answered: Answered): Promise<Judged<Record<string, unknown>>> =>
    answered.status === 200 && isRecord(answered.body) && isAnswer(answered.body)
      ? { value: answered.body }
      : { problem: problemOf(answered) }
  const said = { license_key: licenseKey, instance_id: instanceId, ...body }
  const judged = await servers.vendor.send(name, said, judge)
  if ('value' in judged) keeper.reached(true)
  return judged
}

/** A use as the calls of the server take it. */
export const useOf = ({ meter, amount, key, usedAt, allowance }: Entry) => ({
  ...{ meter, amount, idempotency_key: key, used_at: usedAt },
  ...(allowance !== undefined && { allowance }),
})
