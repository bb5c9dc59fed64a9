import { z } from 'zod'
import { DeviceMail } from '../products/device-mails.ts'
import { Moment } from '../values.ts'
import { DeviceMarks } from './marks.ts'

/**
 * A device in a seat. On the token interface, the caller chooses `deviceId`. For a device that an app
 * activates itself, it is the `instanceId`, and `installId` is the anonymous id that the app had before.
 */
const Activation = z.strictObject({
  deviceId: z.string().min(1),
  instanceId: z.string().min(1),
  installId: z.string().min(1).nullable(),
  name: z.string(),
  platform: z.string().nullable(),
  /** Of a floating seat: rises with each taking of one. */
  fence: z.int().min(1).optional(),
  /** Whose device it is, where the seats are of people. */
  personId: z.string().min(1).optional(),
  /** What the holder is told of it by mail; absent for nothing. */
  mail: DeviceMail.optional(),
  at: Moment,
})

/** What a `license-<id>` stream holds of the devices that take its seats and leave them. */
export const deviceEvents = [
  z.object({ type: z.literal('DeviceActivated'), data: Activation }),
  z.object({
    type: z.literal('DeviceDeactivated'),
    data: z.strictObject({
      deviceId: z.string().min(1),
      instanceId: z.string().min(1),
      /** Set when a floating seat ran out; absent when it was given back or freed. */
      ranOut: z.literal(true).optional(),
      at: Moment,
    }),
  }),
  /**
   * The device in a seat has said who it is: for the first time, when `before` is null, or differently than before, because
   * it was renamed or got a new part.
   */
  z.object({
    type: z.literal('DeviceIdentified'),
    data: z.strictObject({
      deviceId: z.string().min(1),
      instanceId: z.string().min(1),
      marks: DeviceMarks,
      before: DeviceMarks.nullable(),
      at: Moment,
    }),
  }),
  /** Two machines with one hash use a seat, such as copies of a virtual machine. It changes nothing else. */
  z.object({
    type: z.literal('DeviceInTwoPlaces'),
    data: z.strictObject({ deviceId: z.string().min(1), instanceId: z.string().min(1), at: Moment }),
  }),
] as const
