import { z } from 'zod'
import { Moment, Slug } from '../values.ts'

const machine = { tenantId: Slug, productId: Slug, at: Moment }

/**
 * Everything a `trial-<tenant>.<product>.<hash>` stream may hold: one machine's trial of one product. The
 * hash is keyed, so that the log does not reveal the machine. Beacons are counted, not recorded.
 */
export const TrialEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('TrialStarted'), data: z.strictObject(machine) }),
  /** More installs than one machine plausibly has: several machines share the hash. */
  z.object({
    type: z.literal('MachineFoundShared'),
    data: z.strictObject({ ...machine, installs: z.int().positive() }),
  }),
])
export type TrialEvent = z.infer<typeof TrialEvent>
