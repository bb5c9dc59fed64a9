import type { RuntimeLookupParams } from '../../projections/licenses/runtime.ts'
import { momentOf } from '../commands/origin.ts'
import type { Ports } from '../ports.ts'
import { type RuntimeStatus, verdictOn } from './answer.ts'
import { StateUnreadable } from './errors.ts'

/**
 * The status that a validate of a key without a device is answered now, by the code that answers the call. A license's
 * former key has an answer of its own.
 * @returns undefined while the state of the license cannot be read
 */
export async function statusOfKey(
  ports: Ports<'findForRuntime' | 'now'>,
  key: Omit<RuntimeLookupParams, 'deviceId'>,
): Promise<RuntimeStatus | undefined> {
  const found = await ports.findForRuntime({ ...key, deviceId: '' })
  try {
    return verdictOn(found, false, momentOf(ports)).status
  } catch (error) {
    if (error instanceof StateUnreadable) return undefined
    throw error
  }
}
