import { z } from 'zod'
import { Moment } from '../values.ts'
import { KeyHash } from './keys.ts'

/** The key of one person for a license. Its text is derived from `keyId` and a secret of the tenant, and recorded nowhere. */
export const PersonalKey = z.strictObject({
  keyId: z.string().min(1),
  keyHash: KeyHash,
  displayKey: z.string().min(1),
})
export type PersonalKey = z.infer<typeof PersonalKey>

const person = { personId: z.string().min(1) }

/** What a `license-<id>` stream holds of the people who have its seats, where its seats are of people. */
export const namedEvents = [
  z.object({
    type: z.literal('SeatAssigned'),
    data: z.strictObject({ ...person, ...PersonalKey.shape, at: Moment }),
  }),
  /** The person has no seat any more; the devices that they had are freed by events beside it. */
  z.object({
    type: z.literal('SeatUnassigned'),
    data: z.strictObject({
      ...person,
      /** Until when no other person may be given the seat; absent where any may. */
      waitsUntil: Moment.optional(),
      at: Moment,
    }),
  }),
  /** The key before does not count any more; the person's devices keep their places. */
  z.object({
    type: z.literal('PersonalKeyReplaced'),
    data: z.strictObject({ ...person, ...PersonalKey.shape, at: Moment }),
  }),
] as const
export type NamedEvent = z.infer<(typeof namedEvents)[number]>

const types: Record<NamedEvent['type'], true> = {
  SeatAssigned: true,
  SeatUnassigned: true,
  PersonalKeyReplaced: true,
}

/** Whether an event is about the seat of a person. */
export const isOfPerson = <Event extends { type: string }>(event: Event | NamedEvent): event is NamedEvent =>
  Object.hasOwn(types, event.type)
