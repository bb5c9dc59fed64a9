import { z } from 'zod'

/** What a product tells the holder of a license about its devices: that one was added, or that it has no seat left. */
export const DeviceMail = z.enum(['new_device', 'seats_full'])
export type DeviceMail = z.infer<typeof DeviceMail>
